import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { keccak256 } from "../../../src/crypto/keccak256.ts";
import { ethGetTransactionReceipt } from "../../../src/rpc/methods/eth/transaction/eth-get-transaction-receipt.ts";
import { DEFAULT_RPC_LIMITS } from "../../../src/rpc/rpc-options.ts";
import { MemoryChain } from "../../support/memory-chain.ts";
import { GENESIS } from "../execution/test-chain.ts";
import { BOB, signedTransaction } from "./rpc-node.ts";

type WaitingReader = Parameters<typeof ethGetTransactionReceipt.handle>[0];

describe("eth_getTransactionReceipt", () => {
  /** A chain with one accepted transaction, and what the method reads of it. */
  const open = (
    onWait: (chain: MemoryChain) => void = () => undefined,
  ): { chain: MemoryChain; waits: number[]; ask: () => Promise<unknown> } => {
    const chain = new MemoryChain(GENESIS);
    const encoded = signedTransaction(0, { to: BOB, value: 1n });
    assert.ok(chain.submitRaw(encoded).ok);
    const waits: number[] = [];
    const reader: WaitingReader = {
      findTransaction: (hash) => chain.findTransaction(hash),
      receiptsOf: (block) => chain.receiptsOf(block),
      whenSettled(hash, timeoutMs) {
        waits.push(timeoutMs);
        onWait(chain);
        return Promise.resolve(chain.transactionStatus(hash));
      },
    };
    const context = { dialect: "standard", limits: DEFAULT_RPC_LIMITS } as const;
    const ask = (): Promise<unknown> =>
      Promise.resolve(ethGetTransactionReceipt.handle(reader, keccak256(encoded), context));
    return { chain, waits, ask };
  };

  it("is there at once for a final transaction", async () => {
    const { chain, waits, ask } = open();
    chain.seal();
    assert.equal(((await ask()) as { readonly status: string }).status, "0x1");
    assert.deepEqual(waits, []);
  });

  it("is waited for while the transaction is on its way", async () => {
    const { waits, ask } = open((chain) => void chain.seal());
    assert.equal(((await ask()) as { readonly status: string }).status, "0x1");
    assert.deepEqual(waits, [DEFAULT_RPC_LIMITS.receiptWaitMs]);
  });

  it("is null when the transaction is not final in time", async () => {
    const { waits, ask } = open();
    assert.equal(await ask(), null);
    assert.deepEqual(waits, [DEFAULT_RPC_LIMITS.receiptWaitMs]);
  });
});
