/**
 * Our EVM beside @ethereumjs/evm, in one run, turn by turn, in CPU time. Each side runs the same
 * message on its own state; outputs and gas must agree, else the figures would mean nothing.
 */
import { createEVM, type EVM } from "@ethereumjs/evm";
import { createCustomCommon, Mainnet } from "@ethereumjs/common";
import { MerkleStateManager } from "@ethereumjs/statemanager";
import { createAccount, createAddressFromString } from "@ethereumjs/util";

import { bytesToHex } from "../src/base/hex.ts";
import { addressToHex } from "../src/chain/address.ts";
import { keccak256 } from "../src/crypto/keccak256.ts";
import { createEngine } from "../src/execution/engine.ts";
import type { TransactionEngine } from "../src/execution/run-transaction.ts";
import type { BlockContext } from "../src/evm/message.ts";
import { MemoryStore } from "../src/state/memory-store.ts";
import { StateDatabase } from "../src/state/state-database.ts";
import { callData, type ContractName, runtimeCode } from "./support/contract-bytecode.ts";
import { median, microsSince } from "./support/cpu-time.ts";

type Workload = {
  readonly name: string;
  readonly to: bigint;
  readonly data: Uint8Array;
  readonly value: bigint;
  readonly gas: number;
  /** Messages per turn of ours and of the other. */
  readonly oursCount: number;
  readonly otherCount: number;
};

type Measured = { readonly micros: number; readonly output: string; readonly gasUsed: number };

const SENDER = 0x5e4de4n;
const RECIPIENT = 0x4ec1n;
const RICH = 10n ** 30n;
const ADDRESSES: Readonly<Record<ContractName, bigint>> = {
  Token: 0x70ce4n,
  Loops: 0x1009n,
  Snailtracer: 0x54a11n,
};
const TURNS = 5;
const WARM_UP_TURNS = 2;
const CHAIN_ID = 5000n;

const WORKLOADS: readonly Workload[] = [
  workload("value transfer", RECIPIENT, new Uint8Array(0), 1n, 2000, 300),
  call("ERC-20 transfer", "Token", "transfer(address,uint256)", [RECIPIENT, 1n], 2000, 200),
  call("arithmetic loop, 2,000 rounds", "Loops", "arithmetic(uint256)", [2000n], 20, 2),
  call("keccak loop, 2,000 rounds", "Loops", "keccak(uint256)", [2000n], 20, 2),
  call("storage, 100 rounds", "Loops", "store(uint256,uint256)", [1n, 100n], 50, 4),
  call("snailtracer, 8 x 8 pixels", "Snailtracer", "render(uint256,uint256)", [8n, 1n], 8, 1),
];

export async function printEvmBench(): Promise<void> {
  const ours = openOurs();
  const other = await openOther();
  const heading = ["workload", "ours us", "ethereumjs us", "ratio", "ours Mgas/s"];
  process.stdout.write(`${row(heading)}\n`);
  for (const load of WORKLOADS) {
    // Both are compiled when the clock starts: a node runs for months.
    runOurs(ours, load, WARM_UP_TURNS * load.oursCount);
    await runOther(other, load, WARM_UP_TURNS * load.otherCount);
    const turns: { readonly ours: Measured; readonly other: Measured }[] = [];
    for (let turn = 0; turn < TURNS; turn++) {
      const own = runOurs(ours, load, load.oursCount);
      const theirs = await runOther(other, load, load.otherCount);
      if (own.output !== theirs.output || own.gasUsed !== theirs.gasUsed) {
        throw new Error(`${load.name}: ${JSON.stringify({ own, theirs })}`);
      }
      turns.push({ ours: own, other: theirs });
    }
    const own = median(turns.map(({ ours: { micros } }) => micros));
    const theirs = median(turns.map(({ other: { micros } }) => micros));
    const gasUsed = turns[0]?.ours.gasUsed ?? 0;
    const cells = [own.toFixed(1), theirs.toFixed(0), (theirs / own).toFixed(1)];
    process.stdout.write(`${row([load.name, ...cells, (gasUsed / own).toFixed(0)])}\n`);
  }
}

function workload(
  name: string,
  to: bigint,
  data: Uint8Array,
  value: bigint,
  oursCount: number,
  otherCount: number,
): Workload {
  return { name, to, data, value, gas: 2_000_000_000, oursCount, otherCount };
}

function call(
  name: string,
  contract: ContractName,
  method: string,
  args: readonly bigint[],
  oursCount: number,
  otherCount: number,
): Workload {
  const data = callData(contract, method, ...args);
  return workload(name, ADDRESSES[contract], data, 0n, oursCount, otherCount);
}

function row(cells: readonly string[]): string {
  const [name = "", ...figures] = cells;
  return name.padEnd(34) + figures.map((figure) => figure.padStart(15)).join("");
}

function openOurs(): TransactionEngine {
  const database = new StateDatabase({ keepsHistory: false }, new MemoryStore());
  const rules = { chainId: CHAIN_ID, fork: "prague", transactionGasMax: undefined } as const;
  const setup = createEngine(rules, database).journal;
  setup.setBalance(SENDER, RICH);
  for (const [name, address] of Object.entries(ADDRESSES) as [ContractName, bigint][]) {
    setup.setNonce(address, 1n);
    setup.setCode(address, runtimeCode(name));
  }
  setup.setStorage(ADDRESSES.Token, balanceSlot(SENDER), RICH);
  database.commit(0n, setup.blockChanges());
  return createEngine(rules, database);
}

/** Runs the message in a transaction of its own each time; only the EVM's part is compared. */
function runOurs({ evm, journal }: TransactionEngine, load: Workload, count: number): Measured {
  const { to, data, value, gas } = load;
  const message = { kind: "call", caller: SENDER, to, value, data, gas } as const;
  const tx = { origin: SENDER, gasPrice: 0n, blobHashes: [] };
  let output: Uint8Array = new Uint8Array(0);
  let gasLeft = 0;
  const start = process.cpuUsage();
  for (let index = 0; index < count; index++) {
    journal.beginTransaction();
    journal.warmAddress(SENDER);
    journal.warmAddress(to);
    const mark = journal.snapshot();
    ({ output, gasLeft } = evm.execute(message, { block: BLOCK, tx }));
    journal.revertTo(mark);
    journal.endTransaction();
  }
  const micros = microsSince(start) / count;
  return { micros, output: bytesToHex(output), gasUsed: gas - gasLeft };
}

async function openOther(): Promise<EVM> {
  const common = createCustomCommon({ chainId: Number(CHAIN_ID) }, Mainnet, {
    hardfork: "prague",
    // Its own hash would only make it slower: the comparison is about the EVM.
    customCrypto: { keccak256 },
  });
  const stateManager = new MerkleStateManager({ common });
  const put = (address: bigint, balance: bigint, nonce: bigint): Promise<void> =>
    stateManager.putAccount(
      createAddressFromString(addressToHex(address)),
      createAccount({ balance, nonce }),
    );
  await put(SENDER, RICH, 0n);
  for (const [name, address] of Object.entries(ADDRESSES) as [ContractName, bigint][]) {
    await put(address, 0n, 1n);
    await stateManager.putCode(createAddressFromString(addressToHex(address)), runtimeCode(name));
  }
  const token = createAddressFromString(addressToHex(ADDRESSES.Token));
  await stateManager.putStorage(token, wordBytes(balanceSlot(SENDER)), wordBytes(RICH, 13));
  await stateManager.flush();
  return createEVM({ common, stateManager });
}

async function runOther(evm: EVM, load: Workload, count: number): Promise<Measured> {
  const caller = createAddressFromString(addressToHex(SENDER));
  const to = createAddressFromString(addressToHex(load.to));
  const { data, value } = load;
  const options = { caller, to, data, value, gasLimit: BigInt(load.gas) };
  let output: Uint8Array = new Uint8Array(0);
  let gasUsed = 0n;
  const start = process.cpuUsage();
  for (let index = 0; index < count; index++) {
    await evm.journal.cleanup();
    await evm.journal.checkpoint();
    evm.journal.addAlwaysWarmAddress(caller.toString());
    evm.journal.addAlwaysWarmAddress(to.toString());
    const { execResult } = await evm.runCall(options);
    output = execResult.returnValue;
    gasUsed = execResult.executionGasUsed;
    await evm.journal.revert();
    evm.stateManager.originalStorageCache.clear();
  }
  const micros = microsSince(start) / count;
  return { micros, output: bytesToHex(output), gasUsed: Number(gasUsed) };
}

/** Where Token keeps a balance: the mapping at slot 1. */
function balanceSlot(owner: bigint): bigint {
  const preimage = new Uint8Array(64);
  preimage.set(wordBytes(owner));
  preimage[63] = 1;
  return BigInt(bytesToHex(keccak256(preimage)));
}

function wordBytes(word: bigint, size = 32): Uint8Array {
  return Uint8Array.from(Buffer.from(word.toString(16).padStart(2 * size, "0"), "hex"));
}

const BLOCK: BlockContext = {
  number: 1000n,
  timestamp: 1_700_000_000n,
  coinbase: 0xc01n,
  gasLimit: 60_000_000n,
  baseFee: 0n,
  blobBaseFee: 1n,
  prevRandao: 5n,
  blockHash: () => 0n,
};
