/** Four replicas with real keys, and correctly signed examples of what they say. */
import { createSigner } from "../../src/crypto/ed25519.ts";
import type { Block, Body, Header, Rejoin } from "../../src/consensus/block.ts";
import {
  genesisCert,
  type FastCert,
  type QuorumCert,
  type SlowCert,
} from "../../src/consensus/certificate.ts";
import type {
  Commit,
  ExecVote,
  Message,
  NewView,
  Propose,
  Statement,
  ViewChange,
  Vote,
} from "../../src/consensus/message.ts";
import type { Ports } from "../../src/consensus/parameters.ts";
import { createKeyVerifier, type VerifySignature } from "../../src/wire/authenticate.ts";
import { createTransaction } from "../../src/wire/block-codec.ts";
import { ZERO_HASH_TEXT } from "../../src/wire/hash-text.ts";
import { createPorts } from "../../src/wire/ports.ts";
import { plainHeader } from "./plain-header.ts";

export const REPLICA_COUNT = 4;
export const GENESIS: Header = plainHeader();

type Unsigned<Kind> = Kind extends unknown ? Omit<Kind, "signature"> : never;

export class SignedNetwork {
  readonly net: Uint8Array;
  readonly verify: VerifySignature;
  readonly ports: readonly Ports[];

  constructor(net: Uint8Array) {
    const signers = Array.from({ length: REPLICA_COUNT }, (_, index) =>
      createSigner(new Uint8Array(32).fill(index + 1)),
    );
    this.net = net;
    this.verify = createKeyVerifier(signers.map(({ publicKey }) => publicKey));
    this.ports = signers.map((signer) => createPorts({ net, signer }));
  }

  sign<Signed extends Statement>(statement: Signed): Signed & { readonly signature: Uint8Array } {
    return { ...statement, signature: this.#of(statement.sender).sign(statement) };
  }

  rejoin(member: number, epoch = 0): Rejoin {
    const statement = { kind: "rejoin", member, epoch, nonce: ZERO_HASH_TEXT } as const;
    return { ...statement, signature: this.#of(member).signRejoin(statement) };
  }

  block(transactionCount: number, rejoin?: Rejoin): Block {
    const transactions = Array.from({ length: transactionCount }, (_, index) =>
      createTransaction(new Uint8Array(120).fill(index), 21_000),
    );
    return this.blockOf({ transactions, rejoin });
  }

  blockOf(body: Body, changes: Partial<Header> = {}): Block {
    const { hashBody, hashHeader } = this.#of(0);
    let payloadSize = 0;
    for (const { bytes } of body.transactions) payloadSize += bytes.length;
    const header = {
      epoch: 0,
      height: 1,
      parent: hashHeader(GENESIS),
      payloadHash: hashBody(body),
      txCount: body.transactions.length,
      payloadSize,
      timestampMs: 1_000,
      execHeight: 0,
      execResult: ZERO_HASH_TEXT,
      ...changes,
    };
    return { hash: hashHeader(header), header, body };
  }

  propose(block: Block, sender = 0, view = 0): Propose {
    const { header, hash: blockHash, body } = block;
    const { epoch, height } = header;
    const claim = this.sign({ kind: "proposeClaim", epoch, sender, view, height, blockHash });
    const { signature } = claim;
    return { kind: "propose", epoch, sender, view, header, blockHash, body, signature };
  }

  vote(sender: number, changes: Partial<Unsigned<Vote>> = {}): Vote {
    const { hash: blockHash } = this.block(2);
    return this.sign({ kind: "vote", epoch: 0, sender, view: 0, height: 1, blockHash, ...changes });
  }

  commit(sender: number, changes: Partial<Unsigned<Commit>> = {}): Commit {
    const { hash: blockHash } = this.block(2);
    return this.sign({
      kind: "commit",
      epoch: 0,
      sender,
      view: 0,
      height: 1,
      blockHash,
      ...changes,
    });
  }

  execVote(sender: number): ExecVote {
    const { hash: blockHash } = this.block(2);
    return this.sign({
      kind: "execVote",
      epoch: 0,
      sender,
      height: 1,
      blockHash,
      result: ZERO_HASH_TEXT,
    });
  }

  quorumCert(): QuorumCert {
    const { hash: blockHash } = this.block(2);
    const votes = [0, 1, 3].map((sender) => this.vote(sender));
    return { kind: "quorum", epoch: 0, view: 0, height: 1, blockHash, votes: votes.map(endorse) };
  }

  fastCert(): FastCert {
    const { hash: blockHash } = this.block(2);
    const votes = [0, 1, 2, 3].map((sender) => this.vote(sender));
    return { kind: "fast", epoch: 0, view: 0, height: 1, blockHash, votes: votes.map(endorse) };
  }

  /** Two Commits for the block and one for its child. */
  slowCert(): SlowCert {
    const { hash: blockHash } = this.block(2);
    const child = this.blockOf(
      { transactions: [], rejoin: undefined },
      { height: 2, parent: blockHash },
    );
    const commits = [
      this.commit(0),
      this.commit(2),
      this.commit(3, { height: 2, blockHash: child.hash }),
    ];
    return {
      kind: "slow",
      epoch: 0,
      view: 0,
      height: 1,
      blockHash,
      commits: commits.map((commit) => ({
        ...endorse(commit),
        height: commit.height,
        hash: commit.blockHash,
      })),
      links: [child.header],
    };
  }

  viewChange(sender: number, changes: Partial<Unsigned<ViewChange>> = {}): ViewChange {
    return this.sign({
      kind: "viewChange",
      epoch: 0,
      sender,
      newView: 1,
      finalCert: genesisCert(this.#of(0).hashHeader(GENESIS)),
      highCert: this.quorumCert(),
      votedView: 0,
      headersVoted: [this.block(2).header],
      headersCert: [],
      ...changes,
    });
  }

  newView(changes: Partial<Unsigned<NewView>> = {}): NewView {
    const viewChanges = [0, 2, 3].map((sender) => this.viewChange(sender));
    return this.sign({ kind: "newView", epoch: 0, sender: 1, view: 1, viewChanges, ...changes });
  }

  /** One correctly signed message of every kind. */
  messages(): readonly Message[] {
    const block = this.block(2);
    const other = `0x${"99".repeat(32)}` as const;
    const first = this.vote(2);
    const second = this.vote(2, { blockHash: other });
    return [
      this.propose(block),
      this.propose(this.block(0, this.rejoin(3))),
      this.vote(1),
      this.commit(2),
      this.sign({ kind: "abdicate", epoch: 0, sender: 0, view: 0 }),
      this.sign({ kind: "complaint", epoch: 0, sender: 3, view: 0, reason: "silent-leader" }),
      this.viewChange(2),
      this.newView(),
      this.execVote(1),
      { kind: "evidence", first, second },
      { kind: "status", epoch: 0, view: 0, finalHeight: 0, execHeight: 0 },
      { kind: "finality", certificate: this.fastCert() },
      { kind: "finality", certificate: this.slowCert() },
      { kind: "bodyRequest", hashes: [block.hash] },
      { kind: "bodyResponse", blocks: [block] },
      { kind: "blockRequest", fromHeight: 1, toHeight: 2 },
      { kind: "blockResponse", blocks: [block], certificate: this.slowCert() },
      { kind: "newViewRequest", epoch: 0, view: 1 },
      { kind: "forward", transaction: createTransaction(Uint8Array.of(1, 2), 21_000) },
      { kind: "forwardRejoin", rejoin: this.rejoin(2) },
      { kind: "probe", nonce: ZERO_HASH_TEXT },
      {
        kind: "probeAnswer",
        nonce: ZERO_HASH_TEXT,
        isUntouched: false,
        vote: this.vote(2),
        commit: this.commit(2),
        viewChange: this.viewChange(2),
      },
    ];
  }

  #of(replica: number): Ports {
    const ports = this.ports[replica];
    if (ports === undefined) throw new RangeError(`no replica ${replica}`);
    return ports;
  }
}

function endorse({ sender, signature }: Vote | Commit): {
  readonly sender: number;
  readonly signature: Uint8Array;
} {
  return { sender, signature };
}
