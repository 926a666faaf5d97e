/** Random cases: a few contracts that know each other, and a sequence of transactions on them. */
import { bytesToHex, type Hex } from "../../../src/base/hex.ts";
import type { Prng } from "../../../src/base/prng.ts";
import { senderAddress } from "./authorization.ts";
import {
  FUZZ_CHAIN_ID,
  type FuzzAccount,
  type FuzzAuthorization,
  type FuzzCase,
  type FuzzFork,
  type FuzzTransaction,
  SENDER_KEYS,
} from "./fuzz-case.ts";
import { generateInitCode, generateProgram } from "./generate-program.ts";
import { type ProgramContext, randomWord } from "./program-parts.ts";

const CONTRACTS: readonly bigint[] = [1, 2, 3, 4].map((index) => BigInt(index) * 0x100_0000n);
const ABSENT: readonly bigint[] = [0n, 0xdeadn, 0xbeef_0000n];
const COINBASE = 0xc0_1bacn;
// 0x0a is left out: the oracle has no trusted setup. Conformance covers it.
const PRECOMPILES: readonly bigint[] = [1n, 2n, 3n, 4n, 5n, 9n, 11n, 17n, 18n];

export function generateCase(prng: Prng): FuzzCase {
  const fork: FuzzFork = prng.chance(0.85) ? "prague" : "cancun";
  const withFees = prng.chance(0.5);
  const addresses = [
    ...CONTRACTS,
    ...CONTRACTS,
    ...CONTRACTS,
    ...SENDER_KEYS.map((_, index) => BigInt(senderAddress(index))),
    ...ABSENT,
    COINBASE,
    prng.pick(PRECOMPILES),
  ];
  const context: ProgramContext = { prng, addresses, depth: 2 };
  const accounts = CONTRACTS.map((address) => contractAccount(address, context));
  SENDER_KEYS.forEach((_, index) => accounts.push(senderAccount(index, context, fork)));
  const baseFee = withFees ? prng.below(20) : 0;
  const transactions = Array.from({ length: prng.between(1, 4) }, () =>
    generateTransaction(context, fork, withFees, baseFee),
  );
  const present = accounts.filter(
    ({ balance, nonce, code }) => balance !== "0x0" || nonce > 0 || code !== "0x",
  );
  return { fork, baseFee, coinbase: toAddress(COINBASE), accounts: present, transactions };
}

function contractAccount(address: bigint, context: ProgramContext): FuzzAccount {
  const { prng } = context;
  const storage: Record<Hex, Hex> = {};
  for (let slot = 0; slot < 4; slot++) {
    if (prng.chance(0.4)) storage[toWord(BigInt(slot))] = toWord(BigInt(prng.between(1, 2)));
  }
  return {
    address: toAddress(address),
    balance: `0x${prng.pick([0, 1, 1000, 100_000]).toString(16)}`,
    nonce: 1,
    code: bytesToHex(generateProgram(context)),
    storage,
  };
}

/** Most senders are rich; some are poor, some do not exist yet, some are already delegated. */
function senderAccount(index: number, context: ProgramContext, fork: FuzzFork): FuzzAccount {
  const { prng } = context;
  const kind = prng.below(20);
  const delegated = fork === "prague" && prng.chance(0.2);
  const target = prng.pick(context.addresses);
  return {
    address: senderAddress(index),
    balance: kind === 0 ? "0x0" : kind === 1 ? "0x186a0" : "0xde0b6b3a7640000",
    nonce: kind === 0 && !delegated ? 0 : prng.below(3),
    code: delegated ? `0xef0100${toAddress(target).slice(2)}` : "0x",
    storage: {},
  };
}

function generateTransaction(
  context: ProgramContext,
  fork: FuzzFork,
  withFees: boolean,
  baseFee: number,
): FuzzTransaction {
  const { prng } = context;
  const drawn = prng.pick([0, 1, 2, 4, 4] as const);
  const type = drawn === 4 && fork === "cancun" ? 2 : drawn;
  const creates = type !== 4 && prng.chance(0.15);
  const maxFee = withFees ? (prng.chance(0.05) ? prng.below(20) : baseFee + prng.below(20)) : 0;
  const data = creates ? generateInitCode(context) : callData(prng);
  return {
    type,
    sender: prng.below(SENDER_KEYS.length),
    nonceSkew: prng.chance(0.02) ? prng.pick([-1, 1]) : 0,
    to: creates ? undefined : toAddress(prng.pick(context.addresses)),
    gasLimit: gasLimit(prng),
    value: `0x${(prng.chance(0.03) ? randomWord(prng) : BigInt(prng.pick([0, 0, 1, 77]))).toString(16)}`,
    data: bytesToHex(data),
    maxFee,
    priorityFee: type === 2 || type === 4 ? (maxFee === 0 ? 0 : prng.below(maxFee + 1)) : 0,
    accessList: type === 0 || prng.chance(0.4) ? [] : accessList(context),
    authorizations: type === 4 ? authorizations(context) : [],
  };
}

/** Enough for most, a little over the floor for some, too little for few. */
function gasLimit(prng: Prng): number {
  const kind = prng.below(20);
  if (kind === 0) return prng.between(20_900, 60_000);
  if (kind < 5) return prng.between(40_000, 150_000);
  return prng.between(150_000, 900_000);
}

/** Long data makes the floor of EIP-7623 bind; zero bytes weigh less than others. */
function callData(prng: Prng): Uint8Array {
  const kind = prng.below(10);
  if (kind < 3) return new Uint8Array(0);
  if (kind < 8) return prng.bytes(prng.below(100));
  const data = prng.bytes(prng.between(500, 4000));
  if (prng.chance(0.5)) data.fill(0, prng.below(data.length));
  return data;
}

function accessList(context: ProgramContext): FuzzTransaction["accessList"] {
  const { prng } = context;
  return Array.from({ length: prng.below(4) }, () => ({
    address: toAddress(prng.pick(context.addresses)),
    slots: Array.from({ length: prng.below(4) }, () => toWord(BigInt(prng.below(4)))),
  }));
}

function authorizations(context: ProgramContext): FuzzAuthorization[] {
  const { prng } = context;
  return Array.from({ length: prng.between(1, 3) }, () => ({
    chainId: prng.pick([0, FUZZ_CHAIN_ID, FUZZ_CHAIN_ID, FUZZ_CHAIN_ID, 1]),
    address: toAddress(prng.chance(0.2) ? 0n : prng.pick(context.addresses)),
    signer: prng.below(SENDER_KEYS.length),
    nonceSkew: prng.chance(0.15) ? prng.pick([-1, 1]) : 0,
    spoilt: prng.chance(0.9) ? "no" : prng.pick(["high-s", "bad-r", "bad-parity"] as const),
  }));
}

function toAddress(value: bigint): Hex {
  return `0x${value.toString(16).padStart(40, "0")}`;
}

function toWord(value: bigint): Hex {
  return `0x${value.toString(16).padStart(64, "0")}`;
}
