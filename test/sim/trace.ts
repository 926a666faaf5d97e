/**
 * The history of a run: always as a hash, so that two runs of one seed can be compared, and on
 * request as text that a person can read.
 */
import type { Effect } from "../../src/consensus/effect.ts";
import type { Message } from "../../src/consensus/message.ts";
import type { EventQueue } from "./event-queue.ts";

export class Trace {
  readonly #queue: EventQueue;
  readonly #keepsLast: number;
  /** A ring of the last lines; the whole history when unlimited. */
  #lines: string[] = [];
  #hash = 0x811c9dc5;

  /** `keepsLast` is how many lines are remembered: 0 for none, Infinity for all. */
  constructor(queue: EventQueue, keepsLast: number) {
    this.#queue = queue;
    this.#keepsLast = keepsLast;
  }

  hash(): number {
    return this.#hash >>> 0;
  }

  lines(): readonly string[] {
    return this.#keepsLast === Infinity ? this.#lines : this.#lines.slice(-this.#keepsLast);
  }

  note(text: () => string): void {
    this.#mix(this.#queue.nowUs());
    if (this.#keepsLast === 0) return;
    this.#push(text());
  }

  message(
    direction: "send" | "recv",
    endpoint: number,
    peer: number | "all",
    message: Message,
  ): void {
    this.#mix(this.#queue.nowUs());
    this.#mix(endpoint * 64 + (peer === "all" ? 63 : peer));
    this.#mix(message.kind.length * 256 + message.kind.charCodeAt(0));
    if ("signature" in message) {
      const { signature } = message;
      this.#mix((signature[0]! << 24) | (signature[1]! << 16) | (signature[2]! << 8));
    }
    if (this.#keepsLast === 0) return;
    const arrow = direction === "send" ? "->" : "<-";
    this.#push(`${endpoint} ${arrow} ${peer} ${describeMessage(message)}`);
  }

  effect(endpoint: number, effect: Effect): void {
    if (effect.kind === "send") return;
    this.#mix(this.#queue.nowUs());
    this.#mix(endpoint * 256 + effect.kind.length);
    if (this.#keepsLast === 0 || effect.kind === "sync") return;
    this.#push(`${endpoint}    ${describeEffect(effect)}`);
  }

  #push(text: string): void {
    const at = (this.#queue.nowUs() / 1000).toFixed(3).padStart(10);
    this.#lines.push(`${at} ${text}`);
    if (this.#lines.length > 2 * this.#keepsLast) {
      this.#lines = this.#lines.slice(-this.#keepsLast);
    }
  }

  #mix(word: number): void {
    this.#hash = Math.imul(this.#hash ^ (word & 0xffff), 0x01000193);
    this.#hash = Math.imul(this.#hash ^ (word >>> 16), 0x01000193);
  }
}

function short(hash: string): string {
  return hash.slice(2, 8);
}

export function describeMessage(message: Message): string {
  switch (message.kind) {
    case "propose": {
      const { view, header, blockHash, body, epoch } = message;
      const what = body.rejoin === undefined ? `${body.transactions.length} tx` : "rejoin";
      return `Propose ${epoch}/${view}/${header.height} ${short(blockHash)} on ${short(header.parent)} ${what}`;
    }
    case "vote":
    case "commit": {
      const { epoch, view, height, blockHash, sender } = message;
      return `${message.kind} of ${sender} ${epoch}/${view}/${height} ${short(blockHash)}`;
    }
    case "abdicate":
      return `Abdicate of ${message.sender} ${message.epoch}/${message.view}`;
    case "complaint":
      return `Complaint of ${message.sender} ${message.epoch}/${message.view} ${message.reason}`;
    case "viewChange":
      return describeViewChange(message);
    case "newView": {
      const senders = message.viewChanges.map(({ sender }) => sender).join(",");
      return `NewView ${message.epoch}/${message.view} from ${senders}`;
    }
    case "execVote":
      return `ExecVote of ${message.sender} ${message.height} ${short(message.result)}`;
    case "evidence":
      return `Evidence against ${message.first.sender} (${message.first.kind})`;
    case "status": {
      const { epoch, view, finalHeight, execHeight } = message;
      return `Status ${epoch}/${view} final ${finalHeight} exec ${execHeight}`;
    }
    case "finality": {
      const { kind, epoch, view, height } = message.certificate;
      return `Finality ${kind} ${epoch}/${view}/${height}`;
    }
    case "bodyRequest":
      return `BodyRequest ${message.hashes.map(short).join(",")}`;
    case "bodyResponse":
      return `BodyResponse ${message.blocks.map(({ hash }) => short(hash)).join(",")}`;
    case "blockRequest":
      return `BlockRequest ${message.fromHeight}..${message.toHeight}`;
    case "blockResponse": {
      const heights = message.blocks.map(({ header }) => header.height);
      return `BlockResponse ${heights[0] ?? "-"}..${heights.at(-1) ?? "-"}`;
    }
    case "newViewRequest":
      return `NewViewRequest ${message.epoch}/${message.view}`;
    case "forward":
      return `Forward ${short(message.transaction.id)}`;
    case "forwardRejoin":
      return `ForwardRejoin of ${message.rejoin.member} ${short(message.rejoin.nonce)}`;
    case "probe":
      return `Probe ${short(message.nonce)}`;
    case "probeAnswer": {
      const { vote, commit, viewChange } = message;
      const parts = [vote, commit, viewChange].map((part) => (part === undefined ? "-" : "x"));
      return `ProbeAnswer ${short(message.nonce)} ${parts.join("")}`;
    }
  }
}

function describeViewChange(message: Message & { readonly kind: "viewChange" }): string {
  const { epoch, newView, sender, highCert, finalCert, votedView, headersVoted } = message;
  const voted = headersVoted.map(({ height }) => height);
  return (
    `ViewChange of ${sender} ${epoch}/${newView} final ${finalCert.height} ` +
    `cert ${highCert.kind} ${highCert.view}/${highCert.height} ` +
    `voted ${votedView}/${voted[0] ?? "-"}..${voted.at(-1) ?? "-"}`
  );
}

function describeEffect(effect: Exclude<Effect, { readonly kind: "send" | "sync" }>): string {
  switch (effect.kind) {
    case "append": {
      const { record } = effect;
      const detail =
        record.kind === "vote"
          ? ` ${record.view}/${record.height} ${short(record.blockHash)}`
          : record.kind === "view"
            ? ` ${record.view}`
            : record.kind === "block"
              ? ` ${record.block.header.height} ${short(record.block.hash)}`
              : "";
      return `append ${record.kind}${detail} (lsn ${effect.lsn})`;
    }
    case "finalize": {
      const { kind, view, height, blockHash } = effect.certificate;
      return `FINAL ${height} ${short(blockHash)} (${kind} in ${view})`;
    }
    case "serveBlocks":
      return `serves ${effect.fromHeight}..${effect.toHeight} to ${effect.to}`;
    case "checkpoint":
      return `checkpoint ${effect.certificate.height}`;
    case "notice":
      return `NOTICE ${JSON.stringify(effect.notice)}`;
  }
}
