import assert from "node:assert/strict";
import { describe, it } from "node:test";

import { bytesToHex, hexToBytes } from "../../../src/base/hex.ts";
import { bloomOfLogs, mergeBlooms } from "../../../src/chain/bloom.ts";
import { decodeBlock, encodeBlock } from "../../../src/chain/block.ts";
import { COINBASE_ADDRESS } from "../../../src/chain/genesis-block.ts";
import { headerHash } from "../../../src/chain/header.ts";
import { listRoot } from "../../../src/chain/list-root.ts";
import { encodeReceipt } from "../../../src/chain/receipt.ts";
import { signAuthorization } from "../../../src/chain/transaction-sender.ts";
import type { UnsignedTransaction } from "../../../src/chain/transaction.ts";
import { keccak256 } from "../../../src/crypto/keccak256.ts";
import { isRetryable } from "../../../src/execution/drop-reason.ts";
import { resultHash } from "../../../src/execution/result-hash.ts";
import {
  ADDRESSES,
  CHAIN_ID,
  KEYS,
  recovered,
  RICH,
  TestChain,
  transactionOf,
} from "./test-chain.ts";

const [ALICE = 0n, BOB = 0n] = ADDRESSES;
const LOGGER = 0x1066e4n;
/** Logs one topic, 7, without data. */
const LOGGER_CODE = hexToBytes("0x60075f5fa100");

describe("executeBatch", () => {
  it("includes transactions in order, with receipts whose gas adds up", () => {
    const chain = new TestChain([{ address: LOGGER, code: LOGGER_CODE, storage: [] }]);
    const { included, dropped, block } = chain.execute(
      transactionOf(0, { to: BOB, value: 5n }),
      transactionOf(1, { to: LOGGER }),
    );
    assert.deepEqual(dropped, []);
    assert.equal(included.length, 2);
    const [first, second] = included;
    assert.equal(first?.receipt.cumulativeGasUsed, 21_000n);
    assert.ok(second !== undefined);
    assert.equal(second.receipt.logs[0]?.topics[0], 7n);
    const used = 21_000n + second.execution.gasUsed;
    assert.equal(second.receipt.cumulativeGasUsed, used);
    assert.equal(block?.block.header.gasUsed, used);
    assert.equal(chain.database.account(BOB)?.balance, RICH + 5n);
    assert.equal(chain.database.account(ALICE)?.nonce, 1n);
  });

  it("lets a transaction wait that needs more slow precompiles than the block has left", () => {
    // Twenty calls of ecrecover, 3,000 gas each: PUSH0 x4, PUSH1 1, GAS, STATICCALL, POP.
    const code = hexToBytes(`0x${"5f5f5f5f60015afa50".repeat(20)}600160015500`);
    const recoverer = { address: 0xecn, code, storage: [] };
    const chain = new TestChain([recoverer], { transactionGasMax: 110_000n });
    const gasLimit = 110_000n;
    const first = transactionOf(0, { to: 0xecn, gasLimit });
    const second = transactionOf(0, { to: 0xecn, gasLimit, nonce: 1n });
    const plain = transactionOf(1, { to: BOB, value: 5n });
    const { included, dropped } = chain.execute(first, second, plain);
    assert.deepEqual(
      included.map(({ transaction }) => transaction),
      [first, plain],
    );
    assert.deepEqual(
      dropped.map(({ reason }) => reason.code),
      ["TX_BLOCK_SLOW_WORK_EXHAUSTED"],
    );
    assert.ok(isRetryable("TX_BLOCK_SLOW_WORK_EXHAUSTED"));
    assert.equal(chain.database.account(ALICE)?.nonce, 1n, "as if it had not run");
    assert.equal(chain.execute(second).included.length, 1, "the next block has room");
  });

  it("drops a transaction for good that needs more slow work than a whole block may do", () => {
    // Four KZG checks of an empty input, which fail, with 50,000 gas each: they count six times.
    const code = hexToBytes(`0x${"5f5f5f5f600a61c350fa50".repeat(4)}00`);
    const checker = { address: 0xecn, code, storage: [] };
    const chain = new TestChain([checker], { transactionGasMax: 1_000_000n });
    const heavy = transactionOf(0, { to: 0xecn, gasLimit: 1_000_000n });
    const plain = transactionOf(1, { to: BOB, value: 5n });
    const { included, dropped } = chain.execute(heavy, plain);
    assert.deepEqual(
      included.map(({ transaction }) => transaction),
      [plain],
    );
    assert.deepEqual(
      dropped.map(({ reason }) => reason.code),
      ["TX_SLOW_WORK_EXCEEDED"],
    );
    assert.ok(!isRetryable("TX_SLOW_WORK_EXCEEDED"));
    assert.equal(chain.database.account(ALICE)?.nonce, 0n, "as if it had not run");
  });

  it("lets a transaction wait that uses more slow opcodes than the block has left", () => {
    // PUSH0 NOT PUSH0 MSTORE, then loads of that wide word: JUMPDEST (PUSH0 MLOAD POP) x 64, again.
    const code = hexToBytes(`0x5f195f525b${"5f5150".repeat(64)}600456`);
    const chain = new TestChain([{ address: LOGGER, code, storage: [] }], {
      transactionGasMax: 200_000n,
    });
    const gasLimit = 200_000n;
    const first = transactionOf(0, { to: LOGGER, gasLimit });
    const second = transactionOf(0, { to: LOGGER, gasLimit, nonce: 1n });
    const third = transactionOf(0, { to: LOGGER, gasLimit, nonce: 2n });
    const plain = transactionOf(1, { to: BOB, value: 5n });
    const { included, dropped } = chain.execute(first, second, third, plain);
    // Each uses 124,000 gas on loads, of which 25,000 (an eighth of its limit) are free.
    assert.deepEqual(
      included.map(({ transaction }) => transaction),
      [first, second, plain],
    );
    assert.deepEqual(
      dropped.map(({ reason }) => reason.code),
      ["TX_BLOCK_SLOW_WORK_EXHAUSTED"],
    );
    assert.equal(chain.execute(third).included.length, 1, "the next block has room");
  });

  it("runs init code that begins with 0xEF00: it is an invalid opcode, not a format (EOF)", () => {
    // CODECOPY the last two bytes, CREATE with them: the gas given to the creation is lost.
    const code = hexToBytes("0x6002600c5f3960025f5ff0" + "00" + "ef00");
    const chain = new TestChain([{ address: LOGGER, code, storage: [] }]);
    const { included } = chain.execute(transactionOf(0, { to: LOGGER, gasLimit: 1_000_000n }));
    const [only] = included;
    assert.equal(only?.execution.status, "success");
    assert.ok(only.execution.gasUsed > 900_000n, `${only.execution.gasUsed} gas`);
  });

  it("gives each transaction its own logs, also when one without logs comes first", () => {
    const chain = new TestChain([{ address: LOGGER, code: LOGGER_CODE, storage: [] }]);
    const { included, block } = chain.execute(
      transactionOf(0, { to: BOB, value: 5n }),
      transactionOf(1, { to: LOGGER }),
      transactionOf(2, { to: BOB, value: 5n }),
    );
    const receipts = included.map(({ receipt }) => receipt);
    assert.deepEqual(
      receipts.map(({ logs }) => logs.length),
      [0, 1, 0],
    );
    assert.deepEqual(block?.block.header.receiptsRoot, listRoot(receipts.map(encodeReceipt)));
    for (const receipt of receipts) {
      assert.deepEqual(receipt.logsBloom, bloomOfLogs(receipt.logs), "each bloom fits its logs");
    }
  });

  it("builds the header from what was executed", () => {
    const chain = new TestChain([{ address: LOGGER, code: LOGGER_CODE, storage: [] }]);
    const parent = chain.parent;
    const result = chain.execute(transactionOf(0, { to: LOGGER }));
    const { block, hash } = result.block ?? assert.fail("no block");
    const { header } = block;
    const receipts = result.included.map(({ receipt }) => receipt);
    assert.deepEqual(header.parentHash, parent.hash);
    assert.equal(header.number, 1n);
    assert.equal(header.timestamp, 1_700_000_001n, "milliseconds become seconds");
    assert.equal(header.coinbase, COINBASE_ADDRESS);
    assert.deepEqual(header.mixHash, keccak256(parent.hash), "the consensus block's hash");
    assert.deepEqual(header.stateRoot, chain.database.stateRoot);
    assert.deepEqual(header.receiptsRoot, listRoot(receipts.map(encodeReceipt)));
    assert.deepEqual(header.transactionsRoot, listRoot(block.transactions));
    assert.deepEqual(header.logsBloom, mergeBlooms(receipts.map(({ logsBloom }) => logsBloom)));
    assert.ok(header.logsBloom.some((byte) => byte !== 0));
    assert.equal(header.baseFeePerGas, 0n);
    assert.equal(header.blobGasUsed, 0n);
    assert.deepEqual(hash, headerHash(header));
    const decoded = decodeBlock(encodeBlock(block));
    assert.ok(decoded.ok && bytesToHex(headerHash(decoded.value.header)) === bytesToHex(hash));
  });

  it("drops what may not run, with a code, and executes the rest", () => {
    const cases = [
      ["TX_NONCE_TOO_HIGH", transactionOf(0, { nonce: 2n })],
      ["TX_INSUFFICIENT_BALANCE", transactionOf(0, { value: RICH + 1n })],
      ["TX_GAS_LIMIT_ABOVE_MAXIMUM", transactionOf(0, { gasLimit: 16_777_217n })],
      ["TX_INTRINSIC_GAS_TOO_LOW", transactionOf(0, { gasLimit: 20_999n })],
      ["TX_CHAIN_ID_WRONG", transactionOf(0, { chainId: 1n })],
    ] as const;
    for (const [code, transaction] of cases) {
      const chain = new TestChain();
      const { included, dropped } = chain.execute(transaction, transactionOf(1, {}));
      assert.deepEqual(
        dropped.map(({ reason }) => reason.code),
        [code],
      );
      assert.equal(included.length, 1, `${code}: the other is included`);
    }
  });

  it("takes the first of two transactions with one nonce", () => {
    const chain = new TestChain();
    const { included, dropped } = chain.execute(
      transactionOf(0, { value: 1n }),
      transactionOf(0, { value: 2n }),
    );
    assert.equal(included[0]?.transaction.transaction.value, 1n);
    assert.equal(dropped[0]?.reason.code, "TX_NONCE_TOO_LOW");
  });

  it("never refuses a nonce that is too high for good", () => {
    assert.ok(isRetryable("TX_NONCE_TOO_HIGH"));
    assert.ok(!isRetryable("TX_NONCE_TOO_LOW"));
    assert.ok(!isRetryable("TX_PERMISSION_DENIED"));
  });

  it("makes no block and no change of state when all are dropped", () => {
    const chain = new TestChain();
    const before = bytesToHex(chain.database.stateRoot);
    const { header, hash } = chain.parent;
    const result = chain.execute(transactionOf(0, { nonce: 9n }));
    assert.equal(result.block, undefined);
    assert.equal(bytesToHex(chain.database.stateRoot), before);
    assert.equal(chain.database.latestBlock, 0n);
    assert.deepEqual(result.resultHash, resultHash(header, hash));
  });

  it("ends the block's gas with a reason that lets the transaction come again", () => {
    const chain = new TestChain([{ address: LOGGER, code: hexToBytes("0x5b5f56"), storage: [] }]);
    const spend = { to: LOGGER, gasLimit: 16_777_216n };
    const { included, dropped, block } = chain.execute(
      ...[0n, 1n, 2n, 3n].map((nonce) => transactionOf(0, { ...spend, nonce })),
      transactionOf(1, {}),
    );
    assert.equal(included.length, 4, "three that burn all and one that still fits");
    assert.deepEqual(
      dropped.map(({ reason }) => reason.code),
      ["TX_BLOCK_GAS_EXHAUSTED"],
    );
    assert.ok(isRetryable("TX_BLOCK_GAS_EXHAUSTED"));
    assert.equal(block?.block.header.gasUsed, 3n * 16_777_216n + 21_000n);
  });

  it("asks the policy about each transaction, on the state just before it", () => {
    const seen: bigint[] = [];
    const chain = new TestChain([], {}, (world, { sender }) => {
      seen.push(world.nonce(ALICE));
      return sender !== BOB;
    });
    const { included, dropped } = chain.execute(
      transactionOf(0, { nonce: 0n }),
      transactionOf(1, {}),
      transactionOf(0, { nonce: 1n }),
    );
    assert.deepEqual(seen, [0n, 1n, 1n]);
    assert.equal(included.length, 2);
    assert.deepEqual(
      dropped.map(({ reason }) => reason.code),
      ["TX_PERMISSION_DENIED"],
    );
  });

  it("gives equal results to equal batches and different ones to different batches", () => {
    const run = (value: bigint): string => {
      const chain = new TestChain();
      return bytesToHex(chain.execute(transactionOf(0, { value })).resultHash);
    };
    assert.equal(run(1n), run(1n));
    assert.notEqual(run(1n), run(2n));
  });
});

describe("fees", () => {
  it("cost nothing by default, even to an account without balance", () => {
    const chain = new TestChain();
    chain.execute(transactionOf(0, { to: BOB }));
    assert.equal(chain.database.account(ALICE)?.balance, RICH);
    assert.equal(chain.database.account(COINBASE_ADDRESS), undefined, "no fee makes no account");
  });

  it("go to the coinbase beyond the base fee, which is burnt", () => {
    const chain = new TestChain([], { baseFee: 7n });
    const { included } = chain.execute(
      transactionOf(0, { maxFeePerGas: 100n, maxPriorityFeePerGas: 3n }),
    );
    assert.equal(included[0]?.execution.effectiveGasPrice, 10n);
    assert.equal(chain.database.account(ALICE)?.balance, RICH - 210_000n);
    assert.equal(chain.database.account(COINBASE_ADDRESS)?.balance, 63_000n);
  });

  it("are refused below the base fee", () => {
    const chain = new TestChain([], { baseFee: 7n });
    const { dropped } = chain.execute(transactionOf(0, { maxFeePerGas: 6n }));
    assert.equal(dropped[0]?.reason.code, "TX_FEE_BELOW_BASE_FEE");
  });

  it("have a floor for calldata (EIP-7623)", () => {
    const chain = new TestChain();
    const data = new Uint8Array(1000).fill(1);
    const { included } = chain.execute(transactionOf(0, { data }));
    assert.equal(included[0]?.execution.gasUsed, 21_000n + 40_000n);
  });
});

describe("set-code transactions (EIP-7702)", () => {
  it("let an account run another's code, keep doing so, and send transactions", () => {
    const chain = new TestChain([{ address: LOGGER, code: LOGGER_CODE, storage: [] }]);
    const [, key = new Uint8Array(32)] = KEYS;
    const authorization = signAuthorization({ chainId: CHAIN_ID, address: LOGGER, nonce: 0n }, key);
    const unsigned: UnsignedTransaction = {
      type: 4,
      chainId: CHAIN_ID,
      nonce: 0n,
      gasLimit: 100_000n,
      to: BOB,
      value: 0n,
      data: new Uint8Array(0),
      maxFeePerGas: 0n,
      maxPriorityFeePerGas: 0n,
      accessList: [],
      authorizationList: [authorization],
    };
    const first = chain.execute(recovered(unsigned, 0));
    assert.equal(first.included[0]?.receipt.logs[0]?.address, BOB, "Bob's account logged");
    assert.equal(chain.database.account(BOB)?.nonce, 1n);
    const second = chain.execute(
      transactionOf(0, { nonce: 1n, to: BOB }),
      transactionOf(1, { nonce: 1n, to: ALICE, value: 1n }),
    );
    assert.deepEqual(second.dropped, [], "a delegated account may still send");
    assert.equal(second.included[0]?.receipt.logs.length, 1);
  });
});
