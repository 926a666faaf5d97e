/** Where calls and traces run: any block of the chain, with the overrides of the caller. */
import type { AccountOverride, CallRequest } from "../../api/call-request.ts";
import type { Header } from "../../chain/header.ts";
import type { AnalyzedCodeCache } from "../../evm/analyzed-code.ts";
import type { Precompile } from "../../evm/precompile.ts";
import { precompilesOf } from "../../evm/precompiles/registry.ts";
import type { StateProof } from "../../state/trie/account-proof.ts";
import type { TrialAccount } from "../../state/trie/trial-state-root.ts";
import type { StateReader } from "../../state/state-reader.ts";
import { blockContextOf } from "../block-context.ts";
import type { CallEnvironment } from "./call.ts";
import type { ChainRules } from "../../chain/chain-rules.ts";
import { overrideState } from "./overridden-state.ts";
import type { SlowWorkMeter } from "../slow-work-meter.ts";

/** What there is to read. Every block that is named is retained. */
export type ReadSource = {
  readonly rules: ChainRules;
  readonly codes: AnalyzedCodeCache;
  stateAt(number: bigint): StateReader;
  prove(number: bigint, address: bigint, slots: readonly bigint[]): StateProof;
  /** The root that the state after the block would have with these accounts. */
  trialStateRoot(number: bigint, changed: readonly TrialAccount[]): Uint8Array;
  blockHash(number: bigint): Uint8Array;
};

/** How much may be spent on one thing that is asked. */
export type ReadBounds = {
  readonly gasMax: bigint;
  /** Of a result that can be long, in bytes. */
  readonly resultBytesMax: number;
  shouldStop(): boolean;
  /** Of one hash, which cannot be interrupted; undefined: no bound. */
  readonly bulkBytesMax?: number | undefined;
  /** Of opcodes in a row at which `shouldStop` is not looked at; undefined: no bound. */
  readonly runMax?: number | undefined;
  readonly meter?: SlowWorkMeter | undefined;
};

export function callEnvironment(
  source: ReadSource,
  bounds: ReadBounds,
  header: Header,
  { stateOverrides = [], blockOverrides }: CallRequest,
): CallEnvironment {
  const state = source.stateAt(header.number);
  return {
    state: stateOverrides.length === 0 ? state : overrideState(state, stateOverrides),
    block: blockContextOf(header, (number) => source.blockHash(number), blockOverrides),
    rules: source.rules,
    engine: {
      codes: source.codes,
      shouldStop: () => bounds.shouldStop(),
      bulkBytesMax: bounds.bulkBytesMax,
      runMax: bounds.runMax,
      meter: bounds.meter,
      precompiles: movedPrecompiles(source.rules, stateOverrides),
    },
  };
}

/** Undefined if all are where they belong. */
export function movedPrecompiles(
  { fork }: ChainRules,
  overrides: readonly AccountOverride[],
): ReadonlyMap<bigint, Precompile> | undefined {
  const known = precompilesOf(fork);
  const isAffected = ({ address, code, precompileTarget }: AccountOverride): boolean =>
    precompileTarget !== undefined || (code !== undefined && known.has(address));
  const affected = overrides.filter(isAffected);
  if (affected.length === 0) return undefined;
  const moved = new Map(known);
  for (const { address } of affected) moved.delete(address);
  for (const { address, precompileTarget } of affected) {
    const precompile = known.get(address);
    if (precompile === undefined || precompileTarget === undefined) continue;
    moved.set(precompileTarget, precompile);
  }
  return moved;
}
