/**
 * Byzantine replicas. An actor stands around a real replica that holds the Byzantine replica's own
 * key: it decides what becomes of each message the replica wants to send, and invents further ones.
 */
import type { ReplicaIndex, Transaction } from "../../src/consensus/block.ts";
import type { Message } from "../../src/consensus/message.ts";
import type { Ports } from "../../src/consensus/parameters.ts";

export const BEHAVIOURS = [
  "equivocating leader",
  "equivocating voter",
  "withheld votes",
  "partial proposals",
  "invalid blocks",
  "false view changes",
  "chosen new views",
  "censorship",
  "slow leader",
  "early commits",
  "replays",
  "garbage frames",
  "false sync",
  "false results",
  "needless complaints",
  "forged evidence",
] as const;

/**
 * What a leader does to leave others' transactions out. Drawn apart from the rest, so that the
 * histories of older seeds stay what they were.
 */
export const ORDERING_BEHAVIOURS = ["junk leader", "drip leader"] as const;

export type Behaviour = (typeof BEHAVIOURS)[number] | (typeof ORDERING_BEHAVIOURS)[number];

export type Actor = {
  /** How the actor speaks in the end. */
  attach(outlet: Outlet): void;
  onSend(to: ReplicaIndex | "all", message: Message, ports: Ports): void;
  onReceive(message: Message): void;
  ignores(message: Message): boolean;
  censors(transaction: Transaction): boolean;
};

export type Outlet = {
  readonly self: ReplicaIndex;
  readonly replicaCount: number;
  readonly transmit: (to: ReplicaIndex | "all", message: Message) => void;
  readonly transmitFrame: (to: ReplicaIndex, frame: Uint8Array) => void;
  readonly encode: (message: Message) => Uint8Array;
  /** Gives the Byzantine replica's own replica a transaction. */
  readonly submit: (transaction: Transaction) => void;
  readonly after: (delayUs: number, run: () => void) => void;
  readonly count: (what: string) => void;
};

/** One of two copies of a replica with one key: each is honest, together they are not. */
export function createTwin(): Actor {
  let outlet: Outlet | undefined;
  return {
    attach: (given) => {
      outlet = given;
    },
    onSend: (to, message) => outlet?.transmit(to, message),
    onReceive: () => undefined,
    ignores: () => false,
    censors: () => false,
  };
}
