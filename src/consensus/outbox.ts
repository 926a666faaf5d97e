/** Messages that wait for the log to be durable up to the record they depend on (PROTOCOL §7). */
import type { ReplicaIndex } from "./block.ts";
import type { Message } from "./message.ts";

type Waiting = {
  readonly lsn: number;
  readonly to: ReplicaIndex | "all";
  readonly message: Message;
};

export class Outbox {
  #waiting: Waiting[] = [];

  get size(): number {
    return this.#waiting.length;
  }

  push(lsn: number, to: ReplicaIndex | "all", message: Message): void {
    this.#waiting.push({ lsn, to, message });
  }

  /** What may be sent now that all records up to `lsn` are durable, in the order it was queued. */
  release(lsn: number): readonly Waiting[] {
    const released = this.#waiting.filter((waiting) => waiting.lsn <= lsn);
    this.#waiting = this.#waiting.filter((waiting) => waiting.lsn > lsn);
    return released;
  }

  /**
   * A ViewChange rules out votes in lower views, and that covers votes that were decided and are
   * still queued: a queued vote that the ViewChange does not report could fork the chain.
   */
  dropBallotsBelow(epoch: number, view: number): void {
    this.#waiting = this.#waiting.filter(({ message }) => {
      if (message.kind !== "vote" && message.kind !== "commit") return true;
      return message.epoch === epoch && message.view >= view;
    });
  }
}
