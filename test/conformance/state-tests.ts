/**
 * GeneralStateTests and their like: a pre-state, one transaction, the post-state's root and logs.
 */
import { bytesToHex, hexToBytes } from "../../src/base/hex.ts";
import type { Fork } from "../../src/chain/fork.ts";
import { addressToBytes } from "../../src/chain/address.ts";
import { encodeRlp } from "../../src/chain/rlp/rlp.ts";
import { recoverTransaction } from "../../src/chain/transaction-sender.ts";
import { keccak256 } from "../../src/crypto/keccak256.ts";
import { Evm } from "../../src/evm/evm.ts";
import type { BlockContext } from "../../src/evm/message.ts";
import type { Precompile } from "../../src/evm/precompile.ts";
import { precompilesOf } from "../../src/evm/precompiles/registry.ts";
import type { EvmLog } from "../../src/evm/world-state.ts";
import { runTransaction } from "../../src/execution/run-transaction.ts";
import { Journal } from "../../src/state/journal.ts";
import {
  asArray,
  asObject,
  asQuantity,
  asText,
  type Fixture,
  type JsonObject,
} from "./fixture-data.ts";
import { DRAFT_PRAGUE_PRECOMPILES, isDraftPrague } from "./draft-eip-2537.ts";
import { failed, inapplicable, PASSED, type Verdict } from "./outcome.ts";
import { buildPreState } from "./pre-state.ts";
import { readTransaction } from "./state-test-transaction.ts";

const FORKS: ReadonlyMap<string, Fork> = new Map([
  ["Cancun", "cancun"],
  ["Prague", "prague"],
]);
/** EIP-4844 and EIP-7691: how fast the blob base fee moves. */
const BLOB_FEE_FRACTIONS: Readonly<Record<Fork, bigint>> = { cancun: 3338477n, prague: 5007716n };

/** Follows the fork's name where a file was filled for a draft of it. */
export const DRAFT_MARK = " (EIP-2537 of April 2024)";

type Case = {
  readonly test: JsonObject;
  readonly fork: Fork;
  readonly precompiles: ReadonlyMap<bigint, Precompile>;
  readonly post: JsonObject;
};

export function runStateTest(fixture: Fixture): (readonly [name: string, verdict: Verdict])[] {
  const test = asObject(fixture.body);
  const verdicts: (readonly [string, Verdict])[] = [];
  for (const [forkName, posts] of Object.entries(asObject(test["post"]))) {
    const isDraft = forkName === "Prague" && isDraftPrague(test);
    const fork = isDraft ? "cancun" : FORKS.get(forkName);
    asArray(posts).forEach((post, index) => {
      const name = `${fixture.name} ${forkName}${isDraft ? DRAFT_MARK : ""}[${index}]`;
      const verdict =
        fork === undefined
          ? inapplicable(`is for fork ${forkName}: this EVM knows Cancun and Prague`)
          : judge({
              test,
              fork,
              precompiles: isDraft ? DRAFT_PRAGUE_PRECOMPILES : precompilesOf(fork),
              post: asObject(post),
            });
      verdicts.push([name, verdict]);
    });
  }
  return verdicts;
}

function judge(given: Case): Verdict {
  try {
    return runCase(given);
  } catch (error) {
    return failed(error instanceof Error ? (error.stack ?? error.message) : String(error));
  }
}

function runCase({ test, fork, precompiles, post }: Case): Verdict {
  const state = buildPreState(asObject(test["pre"]));
  const journal = new Journal(state);
  const chainId = asQuantity(asObject(test["config"] ?? {})["chainid"] ?? "0x1");
  const evm = new Evm({ fork, chainId }, { world: journal, precompiles });
  const engine = { evm, journal, fork, chainId, transactionGasMax: undefined };
  const block = readBlock(asObject(test["env"]), fork);
  const request = readTransaction(
    asObject(test["transaction"]),
    asObject(post["indexes"]),
    fork,
    chainId,
  );
  const result =
    request === undefined ? undefined : runTransaction(engine, request, block, block.gasLimit);
  const isRefused = result?.ok !== true;

  if (post["expectException"] !== undefined) {
    const expected = asText(post["expectException"]);
    if (!isRefused && !isRefusedByForm(post)) return failed(`ran, expected ${expected}`);
    if (!isRefused) return PASSED;
  } else if (isRefused) {
    return failed(`refused with ${result?.ok === false ? result.error.code : "no transaction"}`);
  }
  const root = bytesToHex(state.commit(1n, journal.blockChanges()));
  if (root !== asText(post["hash"])) return failed(`root ${root}, gas ${gasOf(result)}`);
  const logs = hashLogs(result?.ok === true ? result.value.logs : []);
  return logs === asText(post["logs"]) ? PASSED : failed(`logs ${logs}`);
}

/** Some mistakes show only in the bytes: then these must not decode. */
function isRefusedByForm(post: JsonObject): boolean {
  const bytes = post["txbytes"];
  return bytes !== undefined && !recoverTransaction(hexToBytes(asText(bytes))).ok;
}

function gasOf(result: ReturnType<typeof runTransaction> | undefined): string {
  return result?.ok === true ? `${result.value.gasUsed} ${result.value.status}` : "none";
}

function readBlock(env: JsonObject, fork: Fork): BlockContext {
  const excessBlobGas = asQuantity(env["currentExcessBlobGas"] ?? "0x0");
  return {
    number: asQuantity(env["currentNumber"]),
    timestamp: asQuantity(env["currentTimestamp"]),
    coinbase: asQuantity(env["currentCoinbase"]),
    gasLimit: asQuantity(env["currentGasLimit"]),
    baseFee: asQuantity(env["currentBaseFee"] ?? "0x0"),
    blobBaseFee: blobBaseFee(excessBlobGas, BLOB_FEE_FRACTIONS[fork]),
    prevRandao: asQuantity(env["currentRandom"] ?? "0x0"),
    // The tests define the hash of block n as that of its number in decimal.
    blockHash: (number) => BigInt(bytesToHex(keccak256(new TextEncoder().encode(String(number))))),
  };
}

/** EIP-4844: e to the power of (excess / fraction), as a sum of integers. */
function blobBaseFee(excess: bigint, fraction: bigint): bigint {
  let sum = 0n;
  let term = fraction;
  for (let index = 1n; term > 0n; index++) {
    sum += term;
    term = (term * excess) / (fraction * index);
  }
  return sum / fraction;
}

function hashLogs(logs: readonly EvmLog[]): string {
  const items = logs.map(({ address, topics, data }) => [
    addressToBytes(address),
    topics.map((topic) => hexToBytes(`0x${topic.toString(16).padStart(64, "0")}`)),
    data,
  ]);
  return bytesToHex(keccak256(encodeRlp(items)));
}
