/**
 * Everything one replica ever signed, across its restarts: its promises must hold for all of it
 * (S3), and each signature must rest on records that were durable when it left (S4).
 */
import type { Hash, ReplicaIndex } from "../../../src/consensus/block.ts";
import type {
  Commit,
  Message,
  NewView,
  Propose,
  ViewChange,
  Vote,
} from "../../../src/consensus/message.ts";
import type { BlockRegistry } from "./block-registry.ts";
import { DurableFacts, signedKey } from "./durable-facts.ts";
import { Violation } from "./violation.ts";

type Binding = Propose | Vote | Commit | ViewChange | NewView;

export class SignedHistory {
  readonly facts = new DurableFacts();
  readonly #self: ReplicaIndex;
  readonly #registry: BlockRegistry;
  /** By "epoch/view/height". */
  readonly #votes = new Map<string, { readonly hash: Hash; readonly height: number }>();
  readonly #commits = new Map<string, { readonly hash: Hash; readonly height: number }>();
  readonly #proposals = new Map<string, { readonly hash: Hash; readonly height: number }>();
  /** By "epoch/view": the highest block voted. */
  readonly #topVotes = new Map<string, { readonly height: number; readonly hash: Hash }>();
  readonly #newViews = new Map<string, string>();
  /**
   * Of other leaders, handed on in this life: after a restart a Byzantine replica may give it
   * another one.
   */
  readonly #handedOn = new Map<string, string>();
  /** By epoch: the highest view that was promised, and the last vote. */
  readonly #promises = new Map<number, number>();
  readonly #lastVotes = new Map<number, Vote>();
  /** The highest epoch that anything was signed in, and that the log of this life has reached. */
  #signedEpoch = 0;
  #appendedEpoch = 0;
  /** The log of these epochs was lost: nothing may be signed in them. */
  #silentThroughEpoch = -1;
  /** The log of these epochs went back in time: its replica is not correct in them. */
  #exemptThroughEpoch = -1;

  constructor(self: ReplicaIndex, registry: BlockRegistry) {
    this.#self = self;
    this.#registry = registry;
  }

  onDiskLost(): void {
    this.#silentThroughEpoch = Math.max(this.#signedEpoch, this.facts.durableEpoch());
    this.#appendedEpoch = 0;
    this.facts.onDiskLost();
  }

  onRolledBack(): void {
    this.#exemptThroughEpoch = Math.max(this.#signedEpoch, this.facts.durableEpoch());
  }

  isExemptIn(epoch: number): boolean {
    return epoch <= this.#exemptThroughEpoch;
  }

  onRestart(): void {
    this.#handedOn.clear();
    this.#appendedEpoch = this.facts.durableEpoch();
  }

  /** Once the next epoch is in the log, the one before is closed. */
  onEpoch(epoch: number): void {
    this.#appendedEpoch = Math.max(this.#appendedEpoch, epoch);
  }

  onSend(message: Message, finalHeight: number): void {
    if (message.kind === "abdicate" || message.kind === "complaint") {
      if (!this.isExemptIn(message.epoch)) this.#checkSilence(message.epoch, message.kind);
    } else if (isBinding(message) && !this.isExemptIn(message.epoch)) {
      this.#checkEpoch(message);
      this.#check(message, finalHeight);
    }
  }

  forgetBelow(height: number): void {
    this.facts.forgetBelow(height);
    for (const map of [this.#votes, this.#commits, this.#proposals]) {
      for (const [key, value] of map) if (value.height < height) map.delete(key);
    }
  }

  #check(message: Binding, finalHeight: number): void {
    switch (message.kind) {
      case "propose":
        this.#unique("proposal", this.#proposals, message, message.header.height);
        return;
      case "vote": {
        this.#onVote(message, finalHeight);
        return;
      }
      case "commit": {
        this.#onCommit(message);
        return;
      }
      case "viewChange": {
        this.#onViewChange(message);
        return;
      }
      case "newView": {
        this.#onNewView(message);
        return;
      }
    }
  }

  #onVote(vote: Vote, finalHeight: number): void {
    this.#unique("vote", this.#votes, vote, vote.height);
    this.#checkPromise(vote);
    const key = `${vote.epoch}/${vote.view}`;
    const top = this.#topVotes.get(key);
    const ref = { height: vote.height, hash: vote.blockHash };
    if (top !== undefined) {
      const [low, high] = top.height <= ref.height ? [top, ref] : [ref, top];
      if (!this.#registry.isAncestor(low, high.hash)) {
        this.#fail("S3", `votes of view ${key} do not form a chain: ${low.hash} ${high.hash}`);
      }
    }
    if (top === undefined || ref.height > top.height) this.#topVotes.set(key, ref);
    const last = this.#lastVotes.get(vote.epoch);
    const isNewer =
      last === undefined ||
      vote.view > last.view ||
      (vote.view === last.view && vote.height > last.height);
    if (isNewer) this.#lastVotes.set(vote.epoch, vote);

    if (!this.facts.has("vote", signedKey(vote))) {
      this.#fail("S4", `vote ${signedKey(vote)} sent before its record was durable`);
    }
    this.#checkBodiesDurable(vote, finalHeight);
  }

  #checkBodiesDurable(vote: Vote, finalHeight: number): void {
    let hash = vote.blockHash;
    for (let height = vote.height; height > finalHeight; height--) {
      if (!this.facts.has("block", hash)) {
        this.#fail("S4", `vote ${signedKey(vote)} sent before block ${height} was durable`);
      }
      const header = this.#registry.header(hash);
      if (header === undefined) return;
      hash = header.parent;
    }
  }

  #onCommit(commit: Commit): void {
    this.#unique("commit", this.#commits, commit, commit.height);
    this.#checkPromise(commit);
    if (!this.facts.has("certificate", signedKey(commit))) {
      this.#fail("S4", `commit ${signedKey(commit)} sent before its certificate was durable`);
    }
  }

  #onViewChange(change: ViewChange): void {
    const { epoch, newView } = change;
    if (this.facts.durableView(epoch) < newView) {
      this.#fail("S4", `view change to ${epoch}/${newView} sent before the view was durable`);
    }
    this.#promises.set(epoch, Math.max(this.#promises.get(epoch) ?? 0, newView));
    const last = this.#lastVotes.get(epoch);
    if (last === undefined || last.view >= newView) return;
    const top = change.headersVoted.at(-1);
    const isOmitted =
      change.votedView < last.view ||
      (change.votedView === last.view &&
        last.height > change.finalCert.height &&
        (top === undefined || top.height < last.height) &&
        this.#registry.isAncestor(
          { height: change.finalCert.height, hash: change.finalCert.blockHash },
          last.blockHash,
        ));
    if (isOmitted) {
      this.#fail("S3", `view change to ${epoch}/${newView} omits the vote ${signedKey(last)}`);
    }
    const votedKey =
      top === undefined
        ? undefined
        : signedKey({
            epoch,
            view: change.votedView,
            height: top.height,
            blockHash: this.#registry.addHeader(top),
          });
    if (votedKey !== undefined && !this.facts.has("vote", votedKey)) {
      this.#fail("S4", `view change to ${epoch}/${newView} reports a vote that is not durable`);
    }
  }

  #onNewView(message: NewView): void {
    const key = `${message.epoch}/${message.view}`;
    const content = message.viewChanges
      .map(({ sender, signature }) => `${sender}:${signature.subarray(0, 8).join(".")}`)
      .join(" ");
    const seen = message.sender === this.#self ? this.#newViews : this.#handedOn;
    const earlier = seen.get(key);
    if (earlier !== undefined && earlier !== content) {
      this.#fail("S3", `two different new views of ${key}`);
    }
    seen.set(key, content);
  }

  #unique(
    what: string,
    seen: Map<string, { readonly hash: Hash; readonly height: number }>,
    message: { readonly epoch: number; readonly view: number; readonly blockHash: Hash },
    height: number,
  ): void {
    const key = `${message.epoch}/${message.view}/${height}`;
    const earlier = seen.get(key);
    if (earlier === undefined) {
      seen.set(key, { hash: message.blockHash, height });
    } else if (earlier.hash !== message.blockHash) {
      this.#fail("S3", `two ${what}s at ${key}: ${earlier.hash} and ${message.blockHash}`);
    }
  }

  #checkPromise(message: Vote | Commit): void {
    const promised = this.#promises.get(message.epoch) ?? 0;
    if (message.view < promised) {
      this.#fail("S3", `${message.kind} in view ${message.view} after promising view ${promised}`);
    }
  }

  #checkEpoch(message: Binding): void {
    const { epoch, kind } = message;
    this.#checkSilence(epoch, kind);
    const reached = Math.max(this.#signedEpoch, this.#appendedEpoch);
    // A ViewChange of a closed epoch that waited for the disk binds its sender and is harmless.
    const isHarmless = kind === "viewChange" || kind === "newView";
    if (epoch < reached && !isHarmless)
      this.#fail("S3", `${kind} of epoch ${epoch} after epoch ${reached}`);
    this.#signedEpoch = Math.max(this.#signedEpoch, epoch);
    if (epoch > this.facts.durableEpoch()) {
      this.#fail("S4", `${kind} of epoch ${epoch} before the epoch was durable`);
    }
  }

  #checkSilence(epoch: number, kind: string): void {
    if (epoch <= this.#silentThroughEpoch) {
      this.#fail("S3", `${kind} signed in epoch ${epoch}, whose log this replica lost`);
    }
  }

  #fail(invariant: string, text: string): never {
    throw new Violation(invariant, `replica ${this.#self}: ${text}`);
  }
}

function isBinding(message: Message): message is Binding {
  return ["propose", "vote", "commit", "viewChange", "newView"].includes(message.kind);
}
