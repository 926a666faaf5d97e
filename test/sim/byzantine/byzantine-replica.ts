/**
 * The behaviours of a Byzantine replica (see actor.ts), each drawn per message from its own chance.
 */
import type { Prng } from "../../../src/base/prng.ts";
import type {
  Block,
  Hash,
  Header,
  ReplicaIndex,
  Transaction,
} from "../../../src/consensus/block.ts";
import type { FinalCert } from "../../../src/consensus/certificate.ts";
import type {
  Commit,
  ExecVote,
  Message,
  NewView,
  Propose,
  ViewChange,
  Vote,
} from "../../../src/consensus/message.ts";
import type { Ports } from "../../../src/consensus/parameters.ts";
import type { Actor, Behaviour, Outlet } from "../actor.ts";
import { inventViewChange } from "./false-view-change.ts";
import { signCall } from "../toy-transaction.ts";
import { spoilBlock, SPOILT_KINDS, varyBlock } from "./invalid-block.ts";

const REMEMBERED_MAX = 64;
/** No simulated client has this number: only the Byzantine replica sends in its name. */
const JUNK_CLIENT = 250;
const JUNK_US = 60_000;
/** Just under every timer that a leader is measured by. */
const DRIP_US = 240_000;

export class ByzantineReplica implements Actor {
  readonly #behaviours: ReadonlySet<Behaviour>;
  readonly #prng: Prng;
  #outlet: Outlet | undefined;
  /** Misbehaves only while this holds. */
  isFaulty = true;
  /** Blocks by height that the Byzantine replica has seen or made, for voting twice. */
  readonly #blocks = new Map<number, { readonly hash: Hash; readonly header: Header }[]>();
  readonly #frames: Uint8Array[] = [];
  /** View changes by "epoch/view". */
  readonly #changes = new Map<string, ViewChange[]>();
  readonly #oldCerts: FinalCert[] = [];
  readonly #censored: number;
  #lastVote: Vote | undefined;
  #isGateShut = false;
  readonly #heldBack = new Map<Hash, Transaction>();
  #junkCount = 0;

  constructor(behaviours: readonly Behaviour[], prng: Prng) {
    this.#behaviours = new Set(behaviours);
    this.#prng = prng;
    this.#censored = prng.below(3);
  }

  attach(outlet: Outlet): void {
    this.#outlet = outlet;
  }

  ignores(message: Message): boolean {
    return message.kind === "forward" && this.censors(message.transaction);
  }

  censors(transaction: Transaction): boolean {
    const client = transaction.bytes[0] ?? 0;
    if (client !== JUNK_CLIENT && this.#leavesOut(transaction)) return true;
    if (!this.#does("censorship", 1) || client !== this.#censored) return false;
    this.#out().count("censorship");
    return true;
  }

  /**
   * Whether its own replica must not see a transaction, because of how the Byzantine replica
   * orders.
   */
  #leavesOut(transaction: Transaction): boolean {
    if (this.#does("junk leader", 1)) {
      this.#dropJunk();
      return true;
    }
    if (!this.#does("drip leader", 1)) return false;
    if (this.#heldBack.size < REMEMBERED_MAX) this.#heldBack.set(transaction.id, transaction);
    this.#drip();
    return true;
  }

  /** One after the other of what it was given: it is never silent and never quite idle. */
  #drip(): void {
    if (this.#isGateShut) return;
    for (const [id, transaction] of this.#heldBack) {
      this.#heldBack.delete(id);
      this.#isGateShut = true;
      this.#out().count("drip leader");
      this.#out().after(DRIP_US, () => {
        this.#isGateShut = false;
        this.#drip();
      });
      this.#out().submit(transaction);
      return;
    }
  }

  /** Orders a valid transaction that the others have never seen, several times a second. */
  #dropJunk(): void {
    if (this.#isGateShut) return;
    this.#isGateShut = true;
    this.#out().after(JUNK_US, () => {
      this.#isGateShut = false;
      this.#out().count("junk leader");
      this.#out().submit(signCall({ client: JUNK_CLIENT, count: ++this.#junkCount }, 0));
    });
  }

  onReceive(message: Message): void {
    if (message.kind === "viewChange") this.#noteChange(message);
    if (message.kind === "propose") this.#noteBlock(message.blockHash, message.header);
    if (message.kind === "vote") this.#lastVote = message;
    this.#remember(message);
    this.#mischief(message);
  }

  onSend(to: ReplicaIndex | "all", message: Message, ports: Ports): void {
    this.#remember(message);
    const { kind } = message;
    if (kind === "propose") this.#onPropose(to, message, ports);
    else if (kind === "vote") this.#onVote(to, message, ports);
    else if (kind === "commit") this.#withhold(to, message);
    else if (kind === "viewChange") this.#onViewChange(to, message, ports);
    else if (kind === "newView") this.#onNewView(to, message, ports);
    else if (kind === "execVote") this.#onExecVote(to, message, ports);
    else if (isSyncAnswer(message)) this.#onSync(to, message);
    else this.#out().transmit(to, message);
  }

  #onPropose(to: ReplicaIndex | "all", message: Propose, ports: Ports): void {
    const outlet = this.#out();
    this.#noteBlock(message.blockHash, message.header);
    if (to !== "all") {
      outlet.transmit(to, message);
    } else if (this.#does("equivocating leader", 0.3)) {
      outlet.count("equivocating leader");
      const block = { hash: message.blockHash, header: message.header, body: message.body };
      const other = this.#propose(message, varyBlock(block, ports, this.#prng), ports);
      this.#noteBlock(other.blockHash, other.header);
      const overlap = this.#prng.chance(0.2);
      this.#split((peer, isFirst) => {
        outlet.transmit(peer, isFirst ? message : other);
        if (overlap) outlet.transmit(peer, isFirst ? other : message);
      });
    } else if (this.#does("invalid blocks", 0.2)) {
      const kind = this.#prng.pick(SPOILT_KINDS);
      const block = { hash: message.blockHash, header: message.header, body: message.body };
      const spoilt = spoilBlock(kind, block, ports, this.#prng);
      outlet.count("invalid blocks");
      outlet.count(`invalid block: ${kind}`);
      outlet.transmit("all", this.#propose(message, spoilt, ports));
    } else if (this.#does("partial proposals", 0.3)) {
      outlet.count("partial proposals");
      this.#split((peer, isFirst) => {
        if (isFirst) outlet.transmit(peer, message);
      });
    } else if (this.#does("slow leader", 0.5)) {
      outlet.count("slow leader");
      outlet.after(this.#prng.between(120_000, 245_000), () => outlet.transmit(to, message));
    } else {
      outlet.transmit(to, message);
    }
  }

  #propose(original: Propose, block: Block, ports: Ports): Propose {
    const { epoch, view, sender } = original;
    const { height } = block.header;
    const claim = { kind: "proposeClaim", epoch, sender, view, height, blockHash: block.hash };
    const signature = ports.sign(claim as Parameters<Ports["sign"]>[0]);
    const { header, body, hash: blockHash } = block;
    return { ...original, header, body, blockHash, signature };
  }

  #onVote(to: ReplicaIndex | "all", message: Vote, ports: Ports): void {
    const outlet = this.#out();
    if (this.#does("early commits", 0.5)) {
      outlet.count("early commits");
      const { epoch, sender, view, height, blockHash } = message;
      const statement = { kind: "commit", epoch, sender, view, height, blockHash } as const;
      outlet.transmit("all", { ...statement, signature: ports.sign(statement) });
    }
    if (!this.#does("equivocating voter", 0.4)) {
      this.#withhold(to, message);
      return;
    }
    outlet.count("equivocating voter");
    const known = this.#blocks.get(message.height) ?? [];
    const others = known.filter(({ hash }) => hash !== message.blockHash);
    const blockHash: Hash =
      others.length > 0 ? this.#prng.pick(others).hash : `0x${"5a".repeat(32)}`;
    const { epoch, sender, view, height } = message;
    const statement = { kind: "vote", epoch, sender, view, height, blockHash } as const;
    const second = { ...statement, signature: ports.sign(statement) };
    const tellsBoth = this.#prng.chance(0.3);
    this.#split((peer, isFirst) => {
      outlet.transmit(peer, isFirst ? message : second);
      if (tellsBoth) outlet.transmit(peer, isFirst ? second : message);
    });
  }

  #withhold(to: ReplicaIndex | "all", message: Vote | Commit): void {
    const outlet = this.#out();
    if (!this.#does("withheld votes", 0.6)) {
      outlet.transmit(to, message);
      return;
    }
    outlet.count("withheld votes");
    if (this.#prng.chance(0.5)) return;
    this.#split((peer, isFirst) => {
      if (isFirst) outlet.transmit(peer, message);
    });
  }

  #onViewChange(to: ReplicaIndex | "all", message: ViewChange, ports: Ports): void {
    const outlet = this.#out();
    this.#noteChange(message);
    this.#oldCerts.push(message.finalCert);
    if (!this.#does("false view changes", 0.7)) {
      outlet.transmit(to, message);
      return;
    }
    outlet.count("false view changes");
    const inventions = [0, 1].map(() => {
      const forks = [...this.#blocks.values()].flat().map(({ header }) => header);
      const invented = inventViewChange(message, { forks, oldCerts: this.#oldCerts }, this.#prng);
      const change = { ...invented, signature: ports.sign(invented) };
      this.#noteChange(change);
      return change;
    });
    if (to !== "all") {
      outlet.transmit(to, this.#prng.pick([message, ...inventions]));
      return;
    }
    this.#split((peer, isFirst) => outlet.transmit(peer, inventions[isFirst ? 0 : 1]!));
  }

  #onNewView(to: ReplicaIndex | "all", message: NewView, ports: Ports): void {
    const outlet = this.#out();
    if (message.sender !== outlet.self || !this.#does("chosen new views", 0.8)) {
      outlet.transmit(to, message);
      return;
    }
    outlet.count("chosen new views");
    const chosen = [0, 1].map(() => this.#chooseNewView(message, ports));
    if (to !== "all") outlet.transmit(to, chosen[0]!);
    else this.#split((peer, isFirst) => outlet.transmit(peer, chosen[isFirst ? 0 : 1]!));
  }

  /** Any quorum of what was ever said for the view, one message per sender. */
  #chooseNewView(message: NewView, ports: Ports): NewView {
    const known = this.#changes.get(`${message.epoch}/${message.view}`) ?? [];
    const bySender = new Map<ReplicaIndex, ViewChange>();
    for (const change of this.#prng.shuffle(known)) bySender.set(change.sender, change);
    const count = message.viewChanges.length;
    if (bySender.size < count) return message;
    const viewChanges = this.#prng
      .shuffle([...bySender.values()])
      .slice(0, count)
      .toSorted((a, b) => a.sender - b.sender);
    const { epoch, sender, view } = message;
    const statement = { kind: "newView", epoch, sender, view, viewChanges } as const;
    return { ...statement, signature: ports.sign(statement) };
  }

  #onExecVote(to: ReplicaIndex | "all", message: ExecVote, ports: Ports): void {
    const outlet = this.#out();
    if (!this.#does("false results", 0.5)) {
      outlet.transmit(to, message);
      return;
    }
    outlet.count("false results");
    const { epoch, sender, height, blockHash } = message;
    const result: Hash = `0x${"ee".repeat(32)}`;
    const statement = { kind: "execVote", epoch, sender, height, blockHash, result } as const;
    outlet.transmit(to, { ...statement, signature: ports.sign(statement) });
  }

  #onSync(to: ReplicaIndex | "all", message: SyncAnswer): void {
    const outlet = this.#out();
    if (!this.#does("false sync", 0.6)) {
      outlet.transmit(to, message);
      return;
    }
    outlet.count("false sync");
    outlet.count(`false ${message.kind}`);
    switch (message.kind) {
      case "blockResponse": {
        const old = this.#oldCerts[0] ?? message.certificate;
        const variants: Message[] = [
          { ...message, blocks: message.blocks.slice(1) },
          { ...message, blocks: message.blocks.toReversed() },
          { ...message, blocks: message.blocks.slice(0, -1) },
          { ...message, certificate: old },
        ];
        if (this.#prng.chance(0.8)) outlet.transmit(to, this.#prng.pick(variants));
        return;
      }
      case "bodyResponse":
        if (this.#prng.chance(0.5)) outlet.transmit(to, { ...message, blocks: [] });
        return;
      case "probeAnswer": {
        const isUntouched = this.#prng.chance(0.5);
        const nothing = { vote: undefined, commit: undefined, viewChange: undefined };
        if (this.#prng.chance(0.8)) outlet.transmit(to, { ...message, ...nothing, isUntouched });
        return;
      }
      case "status": {
        const finalHeight = this.#prng.pick([0, message.finalHeight + 1_000, 2 ** 45]);
        const epoch = message.epoch + this.#prng.pick([0, 0, 1, 7]);
        outlet.transmit(to, { ...message, epoch, finalHeight });
      }
    }
  }

  /** Now and then something out of nothing. */
  #mischief(cause: Message): void {
    const outlet = this.#out();
    const target = this.#prng.pick(this.#peers());
    if (this.#does("replays", 0.05) && this.#frames.length > 0) {
      outlet.count("replays");
      outlet.transmitFrame(target, this.#prng.pick(this.#frames));
    }
    if (this.#does("garbage frames", 0.03)) {
      outlet.count("garbage frames");
      outlet.transmitFrame(target, this.#garbage());
    }
    if (this.#does("forged evidence", 0.02) && this.#lastVote !== undefined) {
      outlet.count("forged evidence");
      const first = this.#lastVote;
      outlet.transmit("all", { kind: "evidence", first, second: first });
    }
    if (cause.kind === "status" && this.#does("needless complaints", 0.3)) this.#complain(cause);
  }

  #complain(cause: Message & { readonly kind: "status" }): void {
    const outlet = this.#out();
    if (this.#signer === undefined) return;
    outlet.count("needless complaints");
    const { epoch, view } = cause;
    const statement = {
      kind: "complaint",
      epoch,
      sender: outlet.self,
      view,
      reason: "silent-leader",
    } as const;
    outlet.transmit("all", { ...statement, signature: this.#signer.sign(statement) });
  }

  /** For statements that answer nothing the replica sends. */
  #signer: Ports | undefined;

  useSigner(ports: Ports): void {
    this.#signer = ports;
  }

  #garbage(): Uint8Array {
    const base = this.#frames.at(-1) ?? new Uint8Array([1, 2, 3]);
    switch (this.#prng.below(4)) {
      case 0:
        return this.#prng.bytes(this.#prng.between(1, 200));
      case 1:
        return base.slice(0, this.#prng.below(base.length));
      case 2: {
        const bomb = base.slice();
        const at = this.#prng.below(bomb.length);
        bomb.fill(0xff, at, at + 4);
        return bomb;
      }
      default: {
        const long = new Uint8Array(base.length + this.#prng.between(1, 60_000));
        long.set(base);
        return long;
      }
    }
  }

  #does(behaviour: Behaviour, chance: number): boolean {
    return this.isFaulty && this.#behaviours.has(behaviour) && this.#prng.chance(chance);
  }

  #split(send: (peer: ReplicaIndex, isFirst: boolean) => void): void {
    for (const peer of this.#peers()) send(peer, this.#prng.chance(0.5));
  }

  #peers(): readonly ReplicaIndex[] {
    const { self, replicaCount } = this.#out();
    const all = Array.from({ length: replicaCount }, (_, index) => index);
    return all.filter((index) => index !== self);
  }

  #noteBlock(hash: Hash, header: Header): void {
    const blocks = this.#blocks.get(header.height) ?? [];
    if (blocks.length < 4 && !blocks.some((block) => block.hash === hash)) {
      blocks.push({ hash, header });
    }
    this.#blocks.set(header.height, blocks);
    this.#blocks.delete(header.height - 32);
  }

  #noteChange(message: ViewChange): void {
    const key = `${message.epoch}/${message.newView}`;
    const changes = this.#changes.get(key) ?? [];
    if (changes.length < 16) changes.push(message);
    this.#changes.set(key, changes);
  }

  #remember(message: Message): void {
    if (!this.#behaviours.has("replays") && !this.#behaviours.has("garbage frames")) return;
    if (!this.#prng.chance(0.1)) return;
    this.#frames.push(this.#out().encode(message));
    if (this.#frames.length > REMEMBERED_MAX) this.#frames.splice(this.#prng.below(32), 1);
  }

  #out(): Outlet {
    return this.#outlet!;
  }
}

type SyncAnswer = Extract<
  Message,
  { readonly kind: "blockResponse" | "bodyResponse" | "probeAnswer" | "status" }
>;

function isSyncAnswer(message: Message): message is SyncAnswer {
  return ["blockResponse", "bodyResponse", "probeAnswer", "status"].includes(message.kind);
}
