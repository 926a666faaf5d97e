/** One executor for both kinds of node: what it tells of a height does not depend on the kind. */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, describe, it } from "node:test";
import { encodeTransaction } from "../../../src/chain/transaction-encoder.ts";
import { signAuthorization, signTransaction } from "../../../src/chain/transaction-sender.ts";
import { openChainExecutor } from "../../../src/client/sync/chain-executor.ts";
import type { Block } from "../../../src/consensus/block.ts";
import { BlockExecutor } from "../../../src/ledger/block-executor.ts";
import type { ExecutedHeight } from "../../../src/ledger/executed-height.ts";
import { executionReport } from "../../../src/replica/execution/execution-report.ts";
import { RecentChain } from "../../../src/replica/execution/recent-chain.ts";
import { StateStore } from "../../../src/storage/state-store.ts";
import { createTransaction } from "../../../src/wire/block-codec.ts";
import { plainHeader } from "../../support/plain-header.ts";
import {
  ACCOUNT_KEYS,
  ACCOUNTS,
  CHAIN_ID,
  GENESIS,
  transfer,
} from "../../support/replica-network.ts";

const OPTIONS = { genesis: GENESIS, contracts: [], genesisBlockHash: undefined };
const GAS = 200_000;
const [SENDER, RECIPIENT, AUTHORITY, LATE_AUTHORITY] = [0, 1, 2, 3];

/** Two accounts authorize; only the nonce of the first is the one that its account has. */
function delegation(): Uint8Array {
  const authorize = (account: number, nonce: bigint): ReturnType<typeof signAuthorization> =>
    signAuthorization({ chainId: CHAIN_ID, address: 0xc0den, nonce }, ACCOUNT_KEYS[account]!);
  const unsigned = {
    type: 4 as const,
    chainId: CHAIN_ID,
    nonce: 0n,
    maxPriorityFeePerGas: 0n,
    maxFeePerGas: 0n,
    gasLimit: BigInt(GAS),
    to: ACCOUNTS[RECIPIENT]!,
    value: 0n,
    data: new Uint8Array(0),
    accessList: [],
    authorizationList: [authorize(AUTHORITY, 0n), authorize(LATE_AUTHORITY, 7n)],
  };
  return encodeTransaction(signTransaction(unsigned, ACCOUNT_KEYS[SENDER]!));
}

function blockOf(height: number, transactions: readonly Uint8Array[]): Block {
  return {
    hash: `0x${height.toString(16).padStart(64, "0")}`,
    header: plainHeader({ height, txCount: transactions.length, timestampMs: 1_700_000_000_000 }),
    body: {
      transactions: transactions.map((bytes) => createTransaction(bytes, GAS)),
      rejoin: undefined,
    },
  };
}

const addressesOf = ({ accounts }: Pick<ExecutedHeight, "accounts">): bigint[] =>
  accounts.map(({ address }) => address);

describe("the block executor", () => {
  const directory = mkdtempSync(path.join(tmpdir(), "quorate-ledger-"));
  after(() => rmSync(directory, { recursive: true, force: true }));

  let opened = 0;
  const open = async (kind: "replica" | "client"): Promise<[BlockExecutor, StateStore]> => {
    const store = await StateStore.open(path.join(directory, `${kind}-${opened++}`));
    if (kind === "client") return [openChainExecutor(OPTIONS, store).executor, store];
    const index = new RecentChain(store);
    return [new BlockExecutor({ ...OPTIONS, keepsHistory: false }, { store, index }), store];
  };

  for (const kind of ["replica", "client"] as const) {
    it(`names senders, recipients and authorities on a ${kind}`, async () => {
      const [executor, store] = await open(kind);
      const executed = executor.execute(blockOf(1, [delegation()]), () => undefined);
      const report = executionReport(executed);
      assert.equal(report.included.length, 1);
      const touched = [SENDER, RECIPIENT, AUTHORITY].map((account) => ACCOUNTS[account]);
      assert.deepEqual(addressesOf(report), touched);
      const authority = report.accounts.find(({ address }) => address === ACCOUNTS[AUTHORITY]);
      assert.equal(authority?.nonce, 1n, "as the height left it");
      await store.close();
    });
  }

  it("names the sender of a dropped transaction, whose nonce a mempool may have wrong", async () => {
    const [executor, store] = await open("replica");
    const executed = executor.execute(blockOf(1, [transfer(4, 9)]), () => undefined);
    assert.deepEqual(
      executed.dropped.map(({ reason }) => reason.code),
      ["TX_NONCE_TOO_HIGH"],
    );
    assert.ok(addressesOf(executed).includes(ACCOUNTS[4]!));
    assert.equal(executed.block, undefined);
    await store.close();
  });

  it("gives both kinds of node the same result", async () => {
    const [replica, replicaStore] = await open("replica");
    const [client, clientStore] = await open("client");
    for (const [index, bytes] of [transfer(4, 0), delegation(), transfer(4, 1)].entries()) {
      const block = blockOf(index + 1, [bytes]);
      const [one, other] = [replica, client].map((node) => node.execute(block, () => undefined));
      assert.deepEqual(one, other, `height ${index + 1}`);
    }
    await replicaStore.close();
    await clientStore.close();
  });
});
