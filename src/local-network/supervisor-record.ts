/** supervisor.json: the record of a running `quorate up`. */
import { readFileSync } from "node:fs";
import { isRecord } from "../base/parse-json.ts";

export type NodeRecord = {
  readonly name: string;
  readonly pid: number | undefined;
  readonly state: string;
  readonly restartCount: number;
  readonly failure: string | undefined;
};

export type SupervisorRecord = {
  readonly pid: number;
  readonly startedAtMs: number;
  readonly isReady: boolean;
  readonly rpcUrl: string;
  readonly nodes: readonly NodeRecord[];
};

/** Undefined if there is none or it cannot be parsed. */
export function loadSupervisorRecord(file: string): SupervisorRecord | undefined {
  let value: unknown;
  try {
    value = JSON.parse(readFileSync(file, "utf8"));
  } catch {
    return undefined;
  }
  if (!isRecord(value) || !Array.isArray(value["nodes"])) return undefined;
  const { pid, startedAtMs, isReady, rpcUrl } = value;
  if (typeof pid !== "number" || typeof startedAtMs !== "number") return undefined;
  if (typeof rpcUrl !== "string") return undefined;
  const nodes = value["nodes"].filter(isRecord).map(readNode);
  return { pid, startedAtMs, isReady: isReady === true, rpcUrl, nodes };
}

function readNode(value: Readonly<Record<string, unknown>>): NodeRecord {
  const { name, pid, state, restartCount, failure } = value;
  return {
    name: String(name),
    pid: typeof pid === "number" ? pid : undefined,
    state: String(state),
    restartCount: typeof restartCount === "number" ? restartCount : 0,
    failure: typeof failure === "string" ? failure : undefined,
  };
}
