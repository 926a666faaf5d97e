/** Of two contradicting ballots of one sender only the first may count (S2). */
import type { Hash } from "../../../src/consensus/block.ts";
import type { Message } from "../../../src/consensus/message.ts";
import { Violation } from "./violation.ts";

const REMEMBERED_MAX = 4_000;

export class AcceptedBallots {
  /** Ballots that one replica took since it started, by what they are about. */
  readonly #hashes = new Map<string, Hash>();

  clear(): void {
    this.#hashes.clear();
  }

  /** The replica did not refuse this message. */
  note(replica: string, message: Message): void {
    if (message.kind !== "vote" && message.kind !== "commit") return;
    const { kind, epoch, view, height, sender, blockHash } = message;
    const key = `${kind}/${epoch}/${view}/${height}/${sender}`;
    const first = this.#hashes.get(key);
    if (first !== undefined && first !== blockHash) {
      throw new Violation("S2", `replica ${replica} took two different ballots ${key}`);
    }
    this.#hashes.set(key, blockHash);
    if (this.#hashes.size > REMEMBERED_MAX) this.#hashes.clear();
  }
}
