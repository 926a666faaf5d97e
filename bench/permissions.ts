/**
 * What write permissioning costs per transaction: the policy as it is, which reads the storage of
 * the permission contract, beside a call of the contract's checkUserAction by the EVM.
 */
import { concatBytes } from "../src/base/bytes.ts";
import { writeBigEndian } from "../src/base/big-endian.ts";
import type { GenesisConfig } from "../src/chain/genesis.ts";
import { ANYONE, PERMISSION_ADDRESS, permissionSlot, WRITE } from "../src/chain/permissions.ts";
import { keccak256 } from "../src/crypto/keccak256.ts";
import { AnalyzedCodeCache } from "../src/evm/analyzed-code.ts";
import type { BlockContext } from "../src/evm/message.ts";
import { createEngine } from "../src/execution/engine.ts";
import { buildGenesis } from "../src/execution/genesis-state.ts";
import { permissionPolicyOf } from "../src/execution/permission-policy.ts";
import type { TransactionRequest } from "../src/execution/transaction-request.ts";
import { MemoryStore } from "../src/state/memory-store.ts";
import { StateDatabase } from "../src/state/state-database.ts";
import { median, microsSince } from "./support/cpu-time.ts";

const SENDER_COUNT = 1000;
const ROUNDS = 60;
const WARM_UP_ROUNDS = 20;
const TARGET = 0x70ce4n;
const GENESIS: GenesisConfig = {
  chainId: 5000n,
  timestamp: 1_700_000_000n,
  gasLimit: 60_000_000n,
  transactionGasMax: 16_777_216n,
  alloc: [{ address: 0xadn, balance: 1n }],
  isWritePermissioned: true,
  isReadPermissioned: false,
  replicaPublicKeys: [],
};
const RULES = { chainId: 5000n, fork: "prague", transactionGasMax: 16_777_216n } as const;

type Row = { readonly rights: string; readonly "read storage": string; readonly call: string };

export function benchPermissions(): Row[] {
  return [
    measure("sender's", (sender) => [sender, ANYONE]),
    measure("pair's", (sender) => [sender, TARGET]),
    measure("target's", () => [ANYONE, TARGET]),
  ];
}

/** Microseconds of CPU per check. Each round is a block: it begins with an empty journal. */
function measure(rights: string, entryOf: (sender: bigint) => readonly [bigint, bigint]): Row {
  const senders = Array.from({ length: SENDER_COUNT }, (_, index) => 0xabc_0000n + BigInt(index));
  const database = openDatabase(senders.map(entryOf));
  const requests = senders.map((sender) => requestOf(sender));
  const permits = permissionPolicyOf(GENESIS);
  const codes = new AnalyzedCodeCache(10_000_000);
  const selector = keccak256(Buffer.from("checkUserAction(address,address,uint8)")).subarray(0, 4);
  const read: number[] = [];
  const called: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const reading = createEngine(RULES, database, { codes });
    let start = process.cpuUsage();
    for (const request of requests) {
      if (permits?.(reading.journal, request) !== true) throw new Error("a sender was refused");
    }
    read.push(microsSince(start) / SENDER_COUNT);
    const calling = createEngine(RULES, database, { codes });
    start = process.cpuUsage();
    for (const sender of senders) {
      const data = concatBytes(selector, word(sender), word(TARGET), word(BigInt(WRITE)));
      calling.journal.beginTransaction();
      const { output } = calling.evm.execute(
        { kind: "call", caller: 0n, to: PERMISSION_ADDRESS, value: 0n, data, gas: 100_000 },
        { block: BLOCK, tx: { origin: 0n, gasPrice: 0n, blobHashes: [] } },
      );
      calling.journal.endTransaction();
      if (output[31] !== 1) throw new Error("a sender was refused");
    }
    called.push(microsSince(start) / SENDER_COUNT);
  }
  const text = (values: number[]): string =>
    `${median(values.slice(WARM_UP_ROUNDS)).toFixed(2)} us`;
  return { rights, "read storage": text(read), call: text(called) };
}

function openDatabase(entries: readonly (readonly [bigint, bigint])[]): StateDatabase {
  const database = new StateDatabase({}, new MemoryStore());
  buildGenesis(GENESIS, [], database);
  const { journal } = createEngine(RULES, database);
  for (const [from, to] of entries) {
    journal.setStorage(PERMISSION_ADDRESS, permissionSlot(from, to), BigInt(WRITE));
  }
  journal.endTransaction();
  database.commit(1n, journal.blockChanges());
  return database;
}

function requestOf(sender: bigint): TransactionRequest {
  return {
    sender,
    transaction: {
      type: 2,
      chainId: 5000n,
      nonce: 0n,
      gasLimit: 60_000n,
      to: TARGET,
      value: 0n,
      data: new Uint8Array(0),
      maxFeePerGas: 0n,
      maxPriorityFeePerGas: 0n,
      accessList: [],
    },
  };
}

const BLOCK: BlockContext = {
  number: 1n,
  timestamp: 0n,
  coinbase: 0n,
  gasLimit: 60_000_000n,
  baseFee: 0n,
  blobBaseFee: 1n,
  prevRandao: 0n,
  blockHash: () => 0n,
};

function word(value: bigint): Uint8Array {
  const bytes = new Uint8Array(32);
  writeBigEndian(value, bytes, 0, 32);
  return bytes;
}
