import type { ReplicaIndex } from "../consensus/block.ts";
import type { ExecVote } from "../consensus/message.ts";
import type { Ports } from "../consensus/parameters.ts";
import type { ReplicaStatus } from "../consensus/replica.ts";

export type ResultSignerDependencies = {
  readonly self: ReplicaIndex;
  readonly mode: () => ReplicaStatus["mode"];
  readonly sign: Ports["sign"];
};

/** Undefined where this replica does not take part, or its results are contradicted. */
export type SignResult = (vote: Omit<ExecVote, "sender" | "signature">) => ExecVote | undefined;

/** Signs results for clients and for replicas that take a state. */
export function createResultSigner({ self, mode, sign }: ResultSignerDependencies): SignResult {
  return (vote) => {
    if (mode() !== "active") return undefined;
    const statement = { ...vote, sender: self };
    return { ...statement, signature: sign(statement) };
  };
}
