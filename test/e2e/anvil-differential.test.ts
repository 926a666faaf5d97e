/**
 * The same transactions on Anvil and on our network, one per block, then everything that can be
 * read about them, field by field. What may differ is listed, with the reason; all else is equal.
 */
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { bytesToHex, hexToBytes, type Hex } from "../../src/base/hex.ts";
import { genesisPermissions, PERMISSION_ADDRESS } from "../../src/chain/permissions.ts";
import { PERMISSION_BYTECODE } from "../../src/execution/permission-bytecode.ts";
import { anvilProgram, startAnvil, type RunningAnvil } from "../support/processes/anvil-process.ts";
import { createScenario, RECIPIENT, type Scenario } from "../support/compared-scenario.ts";
import {
  startNetwork,
  waitFor,
  type RunningNetwork,
} from "../support/processes/network-process.ts";

type Answer = { readonly result?: unknown; readonly error?: unknown };
type Difference = { readonly where: string; readonly ours: unknown; readonly theirs: unknown };

/**
 * What may differ: a pattern of `method path`, or of `method path = what Anvil says`, and why. Each
 * must be met by at least one.
 */
const INTENDED: readonly (readonly [pattern: RegExp, reason: string])[] = [
  [/(^eth_getBlock\w+ result hash|[bB]lockHash|parentHash)$/, "each block has its own hash"],
  [/ mixHash$/, "ours is the hash of the consensus block, theirs is random"],
  [/ (timestamp|blockTimestamp)$/, "the clock, and receipts have no blockTimestamp (a number!)"],
  [/ stateRoot$| accountProof$/, "Anvil runs EIP-2935's contract, ours does not (ADR 0006)"],
  [/^eth_getBlock\w+ result size$/, "Anvil leaves out the byte of the empty list of withdrawals"],
  [/^eth_getBlock\w+ result totalDifficulty$/, "the execution APIs have it no longer"],
  [/^eth_get\w+Receipts? result blobGasPrice$/, "only blob transactions have a price of blobs"],
  [/^eth_maxPriorityFeePerGas /, "gas is free: Anvil still proposes a tip of a gwei"],
  [/^(eth_\w+|debug_\w+) error (message|data)$/, "the words; ours name the place and the reason"],
  [/^eth_createAccessList result accessList storageKeys$/, "the order of slots has no meaning"],
  [/^eth_createAccessList (result|error)$/, "a call that fails has a list, too, and its error"],
  [/^eth_createAccessList result gasUsed$/, "what takes all gas takes all of another limit"],
  [/^eth_estimateGas result$/, "never below what ran, with all gas, used: as geth; see the docs"],
  [/ structLogs (refund|returnData)$/, "zero and empty are left out, as geth does"],
  [
    / structLogs gasCost$/,
    "a step that cannot be paid tells its price, as in geth, not what is left",
  ],
  [/^debug_\w+ result( structLogs| calls)? error$/, "names of failures are those of geth"],
  [/^debug_\w+ result gas$/, "the whole limit, as geth does: theirs is less the intrinsic gas"],
  [/^debug_traceCall result( calls)? (gas|gasUsed)$/, "the limit of a call is another"],
  [/^debug_traceTransaction result( pre)? 0x[0-9a-f]{40}$/, "an account that is not is not told"],
  [/^debug_traceTransaction result logs index$/, "geth tells the position alone"],
  [/^debug_traceTransaction result 0x[0-9a-f]{8}-\d+$/, "a precompile has no methods: as in geth"],
  [/^eth_getProof result storageProof proof = 0x80$/, "an empty trie has no node: as in geth"],
  [/^eth_(call|estimateGas) error code = -32[60]03$/, "to run out of gas is no fault of the node"],
  [/^eth_sendRawTransaction error code = -32602$/, "bytes that are no transaction: as in geth"],
  [/^eth_sendRawTransaction (result|error)$/, "what was accepted is accepted again: it is there"],
];

const program = anvilProgram();

describe("beside Anvil", { skip: program === undefined && "Anvil is not installed here" }, () => {
  let network: RunningNetwork;
  let anvil: RunningAnvil;
  let scenario: Scenario;
  const used = new Set<RegExp>();

  before(async () => {
    network = await startNetwork({});
    const block = (await network.rpc("eth_getBlockByNumber", ["latest", false])) as {
      readonly gasLimit: string;
      readonly miner: Hex;
    };
    const { chainId } = network;
    anvil = await startAnvil(program!, { chainId, gasLimit: BigInt(block.gasLimit) });
    await copyGenesis(network, anvil, block.miner);
    const keys = network.accounts.map(({ privateKey }) => privateKey);
    scenario = await createScenario(keys, Number(chainId));
    for (const { raw, hash, name } of scenario.transactions) {
      await Promise.all([send(`${network.url}/standard`, raw, name), send(anvil.url, raw, name)]);
      await isMined(`${network.url}/standard`, hash);
      await isMined(anvil.url, hash);
    }
  });

  after(async () => {
    await anvil.stop();
    await network.stop();
  });

  async function compare(method: string, ...params: readonly unknown[]): Promise<void> {
    const [our, their] = await Promise.all([
      ask(`${network.url}/standard`, method, params),
      ask(anvil.url, method, params),
    ]);
    const found = differences(method, our, their).filter(({ where, theirs }) => {
      const texts = [where, `${where} = ${String(theirs)}`];
      const intended = INTENDED.find(([pattern]) => texts.some((text) => pattern.test(text)));
      if (intended !== undefined) used.add(intended[0]);
      return intended === undefined;
    });
    assert.deepEqual(found, [], `${method} ${JSON.stringify(params)}`);
  }

  /** Where the two differ, ours is the length of the block's RLP, as in geth. */
  async function assertSize(number: string): Promise<void> {
    const url = `${network.url}/standard`;
    const raw = (await result(url, "debug_getRawBlock", [number])) as Hex;
    const { size } = (await result(url, "eth_getBlockByNumber", [number, false])) as {
      readonly size: Hex;
    };
    assert.equal(Number(size), hexToBytes(raw).length);
  }

  it("blocks, transactions and receipts agree", async () => {
    for (const [index, { hash }] of scenario.transactions.entries()) {
      const number = `0x${(index + 1).toString(16)}`;
      await compare("eth_getBlockByNumber", number, true);
      await compare("eth_getBlockByNumber", number, false);
      await assertSize(number);
      await compare("eth_getBlockTransactionCountByNumber", number);
      await compare("eth_getBlockReceipts", number);
      await compare("eth_getTransactionByBlockNumberAndIndex", number, "0x0");
      await compare("eth_getTransactionByHash", hash);
      await compare("eth_getTransactionReceipt", hash);
      await compare("debug_getRawTransaction", hash);
    }
    await compare("eth_blockNumber");
    await compare("eth_chainId");
    await compare("net_version");
    await compare("eth_getUncleCountByBlockNumber", "0x1");
    await compare("eth_getTransactionByHash", `0x${"ab".repeat(32)}`);
    await compare("eth_getTransactionReceipt", `0x${"ab".repeat(32)}`);
    await compare("eth_getBlockByNumber", "0xffffff", false);
    await compare("eth_feeHistory", "0x4", "latest", [50]);
    await compare("eth_gasPrice");
    await compare("eth_maxPriorityFeePerGas");
    await compare("eth_syncing");
    await compare("web3_sha3", "0x616263");
  });

  it("state and proofs agree at every block", async () => {
    const { addresses, transactions } = scenario;
    const accounts = [...Object.values(addresses), RECIPIENT, network.accounts[1]!.address];
    const last = transactions.length;
    for (const block of ["earliest", "latest", `0x${(last - 5).toString(16)}`]) {
      for (const account of accounts) {
        await compare("eth_getBalance", account, block);
        await compare("eth_getTransactionCount", account, block);
        await compare("eth_getCode", account, block);
        await compare("eth_getStorageAt", account, "0x0", block);
      }
    }
    for (const account of accounts) {
      await compare("eth_getProof", account, [topic(0), topic(0x11)], "latest");
    }
  });

  it("logs agree under every kind of filter", async () => {
    const { logger, token } = scenario.addresses;
    const all = { fromBlock: "0x0", toBlock: "latest" };
    await compare("eth_getLogs", all);
    await compare("eth_getLogs", { ...all, address: logger });
    await compare("eth_getLogs", { ...all, address: [logger, token] });
    await compare("eth_getLogs", { ...all, topics: [topic(1)] });
    await compare("eth_getLogs", { ...all, topics: [null, topic(2)] });
    await compare("eth_getLogs", { ...all, topics: [[topic(1), topic(9)], null, topic(3)] });
    await compare("eth_getLogs", { ...all, topics: [null, null, null, topic(4)] });
    await compare("eth_getLogs", { ...all, address: RECIPIENT });
  });

  it("calls, estimates and access lists agree", async () => {
    for (const { call } of scenario.transactions) {
      await compare("eth_call", call, "latest");
      await compare("eth_estimateGas", call, "latest");
      await compare("eth_createAccessList", call, "latest");
    }
  });

  it("traces agree", async () => {
    for (const { hash, call } of scenario.transactions) {
      await compare("debug_traceTransaction", hash);
      await compare("debug_traceTransaction", hash, {
        enableMemory: true,
        enableReturnData: true,
      });
      for (const config of TRACERS) await compare("debug_traceTransaction", hash, config);
      await compare("debug_traceCall", call, "latest", { tracer: "callTracer" });
    }
  });

  it("what is refused is refused by both", async () => {
    const [first] = scenario.transactions;
    await compare("eth_sendRawTransaction", first!.raw);
    await compare("eth_sendRawTransaction", "0x02");
    await compare("eth_getBalance", "0x12", "latest");
    await compare("eth_noSuchMethod");
    await compare("eth_getBlockByNumber");
  });

  it("every intended difference is one", () => {
    const unused = INTENDED.filter(([pattern]) => !used.has(pattern));
    assert.deepEqual(unused, []);
  });
});

const TRACERS = [
  { tracer: "callTracer" },
  { tracer: "callTracer", tracerConfig: { withLog: true } },
  { tracer: "callTracer", tracerConfig: { onlyTopCall: true } },
  { tracer: "prestateTracer" },
  { tracer: "prestateTracer", tracerConfig: { diffMode: true } },
  { tracer: "4byteTracer" },
] as const;

/** So that state roots and proofs can be the same: what our genesis holds, and nothing else. */
async function copyGenesis(
  network: RunningNetwork,
  anvil: RunningAnvil,
  miner: Hex,
): Promise<void> {
  const set = (method: string, ...params: readonly unknown[]): Promise<unknown> =>
    result(anvil.url, method, params);
  await set("anvil_setCoinbase", miner);
  for (const { address } of network.accounts) {
    await set("anvil_setBalance", address, await network.rpc("eth_getBalance", [address, "0x0"]));
  }
  const contract = hexWord(PERMISSION_ADDRESS, 20);
  await set("anvil_setNonce", contract, "0x1");
  await set("anvil_setCode", contract, bytesToHex(hexToBytes(PERMISSION_BYTECODE)));
  const admins = network.accounts.map(({ address }) => BigInt(address));
  for (const [slot, value] of genesisPermissions(admins)) {
    await set("anvil_setStorageAt", contract, hexWord(slot, 32), hexWord(value, 32));
  }
}

function topic(value: number): Hex {
  return hexWord(BigInt(value), 32);
}

function hexWord(value: bigint, size: number): Hex {
  return `0x${value.toString(16).padStart(2 * size, "0")}`;
}

async function send(url: string, raw: Hex, name: string): Promise<void> {
  const { error } = await ask(url, "eth_sendRawTransaction", [raw]);
  assert.equal(error, undefined, `${name}: ${JSON.stringify(error)}`);
}

async function isMined(url: string, hash: Hex): Promise<void> {
  const isThere = async (): Promise<boolean> =>
    (await result(url, "eth_getTransactionReceipt", [hash])) !== null;
  await waitFor(isThere, `the receipt of ${hash}`);
}

async function result(url: string, method: string, params: readonly unknown[]): Promise<unknown> {
  const answer = await ask(url, method, params);
  assert.equal(answer.error, undefined, `${method}: ${JSON.stringify(answer.error)}`);
  return answer.result;
}

async function ask(url: string, method: string, params: readonly unknown[]): Promise<Answer> {
  const response = await fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
  });
  const { result: found, error } = (await response.json()) as Answer;
  return { result: found, error };
}

function differences(where: string, ours: unknown, theirs: unknown): Difference[] {
  if (isRecord(ours) && isRecord(theirs)) {
    const keys = new Set([...Object.keys(ours), ...Object.keys(theirs)]);
    return [...keys].flatMap((key) => {
      const name = Array.isArray(ours) ? "" : key;
      return differences(`${where} ${name}`.trimEnd(), ours[key], theirs[key]);
    });
  }
  return ours === theirs ? [] : [{ where, ours, theirs }];
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null;
}
