/**
 * A chain as four correct replicas would make it: ordered batches, real certificates, and results
 * from an execution that shares nothing with the client node under test but the rules.
 */
import { hexToBytes } from "../../../src/base/hex.ts";
import { chainRules } from "../../../src/chain/chain-rules.ts";
import { genesisHash } from "../../../src/chain/genesis.ts";
import { recoverTransaction } from "../../../src/chain/transaction-sender.ts";
import type { Block, Hash } from "../../../src/consensus/block.ts";
import type { FastCert, FinalCert, SlowCert } from "../../../src/consensus/certificate.ts";
import type { ExecVote } from "../../../src/consensus/message.ts";
import { executeBatch, type ParentBlock } from "../../../src/execution/execute-batch.ts";
import { buildGenesis } from "../../../src/execution/genesis-state.ts";
import { resultHash } from "../../../src/execution/result-hash.ts";
import { MemoryStore } from "../../../src/state/memory-store.ts";
import { StateDatabase } from "../../../src/state/state-database.ts";
import { createTransaction } from "../../../src/wire/block-codec.ts";
import { consensusGenesis } from "../../../src/wire/consensus-genesis.ts";
import { bytesToHash } from "../../../src/wire/hash-text.ts";
import { GENESIS } from "../../support/replica-network.ts";
import { SignedNetwork } from "../../support/signed-messages.ts";

export type FinalBlock = { readonly block: Block; readonly certificate: FinalCert | undefined };

/** "none": proved by the next one that has a certificate. */
export type Proof = "fast" | "slow" | "none";

const RULES = chainRules(GENESIS);

export class FinalChain {
  readonly network = new SignedNetwork(genesisHash(GENESIS));
  /** By height, from 1 on. */
  readonly finals: FinalBlock[] = [];
  readonly results: Hash[] = [];
  readonly genesisResult: Hash;
  /** The height whose result the header of a height names. */
  namedBy: (height: number) => number = () => 0;
  /** What a header says of that result; another one is a chain that no correct replicas make. */
  namedResult: (named: number) => Hash = (named) =>
    named === 0 ? this.genesisResult : this.results[named - 1]!;
  readonly #database = new StateDatabase({}, new MemoryStore());
  readonly #ethereumHashes: Uint8Array[] = [];
  #parent: ParentBlock;
  #tipHash: Hash;

  constructor() {
    const { block, hash } = buildGenesis(GENESIS, [], this.#database);
    this.#parent = { header: block.header, hash };
    this.#ethereumHashes.push(hash);
    const origin = consensusGenesis(GENESIS, resultHash(block.header, hash));
    this.genesisResult = origin.result;
    this.#tipHash = this.network.ports[0]!.hashHeader(origin.header);
  }

  get height(): number {
    return this.finals.length;
  }

  get blockNumber(): bigint {
    return this.#parent.header.number;
  }

  get tipHash(): Hash {
    return this.#tipHash;
  }

  balance(address: bigint): bigint {
    return this.#database.account(address)?.balance ?? 0n;
  }

  append(transactions: readonly Uint8Array[], proof: Proof = "fast"): FinalBlock {
    const final = this.blockAfterTip(transactions, proof);
    this.finals.push(final);
    this.#tipHash = final.block.hash;
    this.results.push(bytesToHash(this.#execute(final.block)));
    return final;
  }

  /** A block that could be next, without making it so. */
  blockAfterTip(transactions: readonly Uint8Array[], proof: Proof): FinalBlock {
    const body = {
      transactions: transactions.map((bytes) => {
        const recovered = recoverTransaction(bytes);
        const gas = recovered.ok ? Number(recovered.value.transaction.gasLimit) : 0;
        return createTransaction(bytes, gas);
      }),
      rejoin: undefined,
    };
    const height = this.height + 1;
    const block = this.network.blockOf(body, {
      height,
      parent: this.#tipHash,
      timestampMs: Number(GENESIS.timestamp) * 1_000 + height * 100,
      execHeight: this.namedBy(height),
      execResult: this.namedResult(this.namedBy(height)),
    });
    return { block, certificate: this.#certify(block, proof) };
  }

  vote(replica: number, height: number, result = this.results[height - 1]!): ExecVote {
    const blockHash = this.finals[height - 1]!.block.hash;
    return this.network.sign({
      kind: "execVote",
      epoch: 0,
      sender: replica,
      height,
      blockHash,
      result,
    });
  }

  #certify(block: Block, proof: Proof): FinalCert | undefined {
    const { height } = block.header;
    const named = { epoch: 0, view: 0, height, blockHash: block.hash };
    if (proof === "none") return undefined;
    if (proof === "fast") {
      const votes = [0, 1, 2, 3].map((sender) => this.network.vote(sender, named));
      return { kind: "fast", ...named, votes } satisfies FastCert;
    }
    const commits = [0, 1, 3].map((sender) => this.network.commit(sender, named));
    return {
      kind: "slow",
      ...named,
      commits: commits.map(({ sender, signature }) => {
        return { sender, signature, height, hash: block.hash };
      }),
      links: [],
    } satisfies SlowCert;
  }

  #execute({ hash, header, body }: Block): Uint8Array {
    const transactions = body.transactions.flatMap(({ bytes }) => {
      const recovered = recoverTransaction(bytes);
      return recovered.ok ? recovered.value : [];
    });
    const consensusHash = hexToBytes(hash);
    const batch = { transactions, consensusHash, timestampMs: header.timestampMs };
    const executed = executeBatch(batch, this.#parent, RULES, {
      database: this.#database,
      blockHash: (number) => this.#ethereumHashes[Number(number)]!,
    });
    if (executed.block !== undefined) {
      this.#parent = { header: executed.block.block.header, hash: executed.block.hash };
      this.#ethereumHashes.push(executed.block.hash);
    }
    return executed.resultHash;
  }
}
