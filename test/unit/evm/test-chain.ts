import { keccak256Word } from "../../../src/crypto/keccak256.ts";
import { Evm } from "../../../src/evm/evm.ts";
import type { EvmFork } from "../../../src/evm/fork.ts";
import type { BlockContext, ExecutionResult, EvmMessage } from "../../../src/evm/message.ts";
import type { Precompile } from "../../../src/evm/precompile.ts";
import type { Tracer } from "../../../src/evm/tracer.ts";
import { bytesToWord } from "../../../src/evm/word.ts";
import type { Code } from "../../../src/evm/world-state.ts";
import { EMPTY_CODE, EMPTY_STORAGE_ROOT } from "../../../src/state/account.ts";
import { Journal } from "../../../src/state/journal.ts";
import type { StateReader } from "../../../src/state/state-reader.ts";
import { assemble } from "./bytecode.ts";

export const SENDER = 0x5e4de4n;
export const CONTRACT = 0xc047ac7n;
export const OTHER = 0x07e4n;
export const GAS = 1_000_000;

export const BLOCK: BlockContext = {
  number: 1000n,
  timestamp: 1_700_000_000n,
  coinbase: 0xc01n,
  gasLimit: 60_000_000n,
  baseFee: 7n,
  blobBaseFee: 9n,
  prevRandao: 5n,
  blockHash: (number) => 0xb10c_0000n + number,
};

export type TestAccount = {
  readonly code?: string | Uint8Array;
  readonly balance?: bigint;
  readonly nonce?: bigint;
  readonly storage?: Readonly<Record<string, bigint>>;
};

export type TestChainOptions = {
  readonly fork?: EvmFork;
  readonly shouldStop?: () => boolean;
  readonly precompiles?: ReadonlyMap<bigint, Precompile>;
  readonly codeCacheBytesMax?: number;
};

/** An EVM on a real journal over accounts given in place. */
export class TestChain {
  readonly journal: Journal;
  readonly evm: Evm;

  constructor(accounts: ReadonlyMap<bigint, TestAccount>, options: TestChainOptions = {}) {
    this.journal = new Journal(new FixedState(accounts));
    this.evm = new Evm(
      {
        fork: options.fork ?? "prague",
        chainId: 1337n,
        ...(options.codeCacheBytesMax === undefined
          ? {}
          : { codeCacheBytesMax: options.codeCacheBytesMax }),
      },
      {
        world: this.journal,
        precompiles: options.precompiles ?? new Map(),
        ...(options.shouldStop === undefined ? {} : { shouldStop: options.shouldStop }),
      },
    );
    this.journal.beginTransaction();
    this.journal.warmAddress(SENDER);
    this.journal.warmAddress(CONTRACT);
  }

  execute(message: EvmMessage, tracer?: Tracer): ExecutionResult {
    const tx = { origin: SENDER, gasPrice: 11n, blobHashes: [0xb10bn] };
    return this.evm.execute(message, { block: BLOCK, tx, tracer });
  }

  call(
    changes: Partial<Extract<EvmMessage, { kind: "call" }>> = {},
    tracer?: Tracer,
  ): ExecutionResult {
    return this.execute(
      {
        kind: "call",
        caller: SENDER,
        to: CONTRACT,
        value: 0n,
        data: new Uint8Array(0),
        gas: GAS,
        ...changes,
      },
      tracer,
    );
  }
}

/** One contract and its code: what most tests need. */
export function chainOf(
  code: string | Uint8Array,
  others: readonly (readonly [bigint, TestAccount])[] = [],
  options: TestChainOptions = {},
): TestChain {
  const accounts = new Map<bigint, TestAccount>([
    [SENDER, { balance: 10n ** 18n }],
    [CONTRACT, { code, nonce: 1n }],
    ...others,
  ]);
  return new TestChain(accounts, options);
}

/** Runs code and reads the one word it returns. */
export function runForWord(code: string, gas = GAS): bigint {
  const result = chainOf(code).call({ gas });
  if (result.status !== "success") throw new Error(`${code}: ${result.reason ?? result.status}`);
  return bytesToWord(result.output);
}

export function gasUsed(result: ExecutionResult, gas = GAS): number {
  return gas - result.gasLeft;
}

class FixedState implements StateReader {
  readonly #accounts: ReadonlyMap<bigint, TestAccount>;
  readonly #codes = new Map<bigint, Code>();

  constructor(accounts: ReadonlyMap<bigint, TestAccount>) {
    this.#accounts = accounts;
  }

  account(address: bigint): ReturnType<StateReader["account"]> {
    const account = this.#accounts.get(address);
    if (account === undefined) return undefined;
    const { code = "", balance = 0n, nonce = 0n, storage = {} } = account;
    const { hash } = this.internCode(typeof code === "string" ? assemble(code) : code);
    const hasStorage = Object.keys(storage).length > 0;
    return { nonce, balance, codeHash: hash, storageRoot: hasStorage ? 1n : EMPTY_STORAGE_ROOT };
  }

  storage(address: bigint, slot: bigint): bigint {
    return this.#accounts.get(address)?.storage?.[String(slot)] ?? 0n;
  }

  code(hash: bigint): Code {
    return this.#codes.get(hash) ?? EMPTY_CODE;
  }

  internCode(bytes: Uint8Array): Code {
    const hash = keccak256Word(bytes, 0, bytes.length);
    const code = this.#codes.get(hash) ?? { bytes, hash };
    this.#codes.set(hash, code);
    return code;
  }
}
