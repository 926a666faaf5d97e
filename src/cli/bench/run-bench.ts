/**
 * The network under load from outside, through ethrpc alone: transactions are signed beforehand by
 * many accounts, sent at a pace, and counted when they are seen in a block.
 */
import { randomBytes } from "node:crypto";
import { setImmediate as turn, setTimeout as sleep } from "node:timers/promises";
import { CodedError } from "../../base/coded-error.ts";
import { hexToBytes } from "../../base/hex.ts";
import { createdAddress, addressToHex } from "../../chain/address.ts";
import { signIn } from "../permit/signed-in-caller.ts";
import { createJsonRpcCaller } from "../smoke-test/json-rpc-caller.ts";
import { TOKEN_CREATION_CODE, TOKEN_SELECTORS } from "../smoke-test/token-bytecode.ts";
import { measureLatency, runLoad, type LoadResult, type Pace } from "./load.ts";
import { percentile } from "./percentiles.ts";
import { RpcConnection, type RpcTarget } from "./rpc-connection.ts";
import {
  senderOfKey,
  signNext,
  type Call,
  type BenchSender,
  type SignedTransaction,
} from "./senders.ts";

export type BenchOptions = {
  readonly url: string;
  readonly seconds: number;
  readonly senderCount: number;
  readonly pace: Pace;
  readonly transfers: "value" | "erc20";
  /** The one account that acts, where only some may write. Secret. */
  readonly privateKey: Uint8Array | undefined;
};

export type BenchReport = Omit<LoadResult, "tenths"> & {
  readonly chainId: number;
  /** One transaction at a time, from its submission to its receipt. */
  readonly aloneP50Ms: number;
  readonly aloneP99Ms: number;
  readonly perSecondByTenth: readonly number[];
  /** How often a node refused, by its words. */
  readonly refusals: Readonly<Record<string, number>>;
};

export type BenchStep = "prepare" | "sign" | "load";
export type BenchProgress = (step: BenchStep, share: number, text: string) => void;

const ALONE_SAMPLES = 40;
/** Signed for a closed loop, per second of it: more than a network takes. */
const SIGNED_PER_SECOND = 4_000;
const SIGNED_AT_ONCE = 200;
const OPEN_LOOP_MARGIN = 1.2;
const RECEIPT_POLL_MS = 20;
const RECEIPT_TIMEOUT_MS = 30_000;
const REASONS_MAX = 20;
const REASON_LENGTH_MAX = 80;
const TRANSFER_GAS = 21_000n;
const TOKEN_GAS = 100_000n;
const DEPLOY_GAS = 3_000_000n;
const COINS = 10n ** 12n;
const NO_DATA = new Uint8Array(0);

export async function runBench(
  options: BenchOptions,
  onProgress: BenchProgress,
): Promise<BenchReport> {
  const { url, privateKey, seconds, pace } = options;
  const target = await findTarget(url, privateKey);
  const call = createJsonRpcCaller(url, headersOf(target));
  const chainId = BigInt(String(await call("eth_chainId", [])));
  if (BigInt(String(await call("eth_gasPrice", []))) > 0n) {
    throw new CodedError("BENCH_GAS_NOT_FREE", { url });
  }
  const senders = await createSenders(options, call);
  const plan = await prepare(options, { target, chainId, senders }, onProgress);
  const alone = await refusedAs(
    measureLatency(target, signAhead(plan, Math.min(ALONE_SAMPLES, 10 * senders.length))),
  );
  const queues = await signQueues(plan, options, onProgress);
  const refusals: Record<string, number> = {};
  let final = 0;
  const startMs = performance.now();
  const { tenths, ...result } = await runLoad(target, queues, pace, seconds, {
    onFinal: (count) => {
      final += count;
      const passed = (performance.now() - startMs) / 1000;
      const text = `${final} final, ${Math.round(final / passed)} per second`;
      onProgress("load", Math.min(1, passed / seconds), text);
    },
    onRefusal: (reason) => note(refusals, reason),
  });
  return {
    ...result,
    chainId: Number(chainId),
    aloneP50Ms: percentile(alone, 0.5),
    aloneP99Ms: percentile(alone, 0.99),
    perSecondByTenth: tenths,
    refusals,
  };
}

type Plan = {
  readonly target: RpcTarget;
  readonly chainId: bigint;
  readonly senders: readonly BenchSender[];
  /** The token; undefined for value transfers. */
  readonly token: bigint | undefined;
};

type JsonRpc = (method: string, params: readonly unknown[]) => Promise<unknown>;

/** With a token of the account where the network asks who reads. */
async function findTarget(url: string, privateKey: Uint8Array | undefined): Promise<RpcTarget> {
  try {
    await createJsonRpcCaller(url)("eth_blockNumber", []);
    return { url };
  } catch (error) {
    const isRefusal = error instanceof CodedError && error.code === "NETWORK_CALL_FAILED";
    if (privateKey === undefined || !isRefusal) throw error;
    return { url, authorization: `Bearer ${await signIn(url, privateKey)}` };
  }
}

function headersOf({ authorization }: RpcTarget): Readonly<Record<string, string>> {
  return authorization === undefined ? {} : { authorization };
}

/** New accounts need no coins: gas is free, and they transfer nothing but a message. */
async function createSenders(
  { senderCount, privateKey }: BenchOptions,
  call: JsonRpc,
): Promise<readonly BenchSender[]> {
  if (privateKey === undefined) {
    return Array.from({ length: senderCount }, () => senderOfKey(new Uint8Array(randomBytes(32))));
  }
  const sender = senderOfKey(privateKey);
  const count = await call("eth_getTransactionCount", [addressToHex(sender.address), "pending"]);
  sender.nonce = BigInt(String(count));
  return [sender];
}

/** The token, and some of it for each sender. */
async function prepare(
  { transfers }: BenchOptions,
  parts: Omit<Plan, "token">,
  onProgress: BenchProgress,
): Promise<Plan> {
  if (transfers === "value") return { ...parts, token: undefined };
  const { target, chainId, senders } = parts;
  const [first] = senders;
  if (first === undefined) return { ...parts, token: undefined };
  const connection = await RpcConnection.open(target);
  const token = createdAddress(first.address, first.nonce);
  const creation = { to: undefined, value: 0n, data: hexToBytes(TOKEN_CREATION_CODE) };
  const deployment = signNext(first, chainId, { ...creation, gasLimit: DEPLOY_GAS });
  await refusedAs(connection.send(deployment.body));
  await awaitReceipt(connection, deployment.hash);
  for (const [index, sender] of senders.entries()) {
    const data = callData(TOKEN_SELECTORS.mint, sender.address, COINS);
    const minted = signNext(sender, chainId, { to: token, value: 0n, data, gasLimit: TOKEN_GAS });
    await refusedAs(connection.send(minted.body));
    if (index === senders.length - 1) await awaitReceipt(connection, minted.hash);
    onProgress("prepare", (index + 1) / senders.length, `${index + 1} accounts have tokens`);
  }
  connection.close();
  return { ...parts, token };
}

async function awaitReceipt(connection: RpcConnection, hash: string): Promise<void> {
  const deadlineMs = performance.now() + RECEIPT_TIMEOUT_MS;
  while ((await connection.call("eth_getTransactionReceipt", [hash])) === null) {
    if (performance.now() > deadlineMs) {
      throw new CodedError("TX_NOT_FINAL_YET", { hash, seconds: RECEIPT_TIMEOUT_MS / 1000 });
    }
    await sleep(RECEIPT_POLL_MS);
  }
}

function* signAhead(plan: Plan, count: number): Iterable<SignedTransaction> {
  for (let index = 0; index < count; index++) yield signTransfer(plan, index);
}

/** A sender stays with its connection: its transactions arrive in the order of their nonces. */
async function signQueues(
  plan: Plan,
  { pace, seconds }: BenchOptions,
  onProgress: BenchProgress,
): Promise<readonly (readonly SignedTransaction[])[]> {
  const perSecond = pace.kind === "open" ? pace.perSecond * OPEN_LOOP_MARGIN : SIGNED_PER_SECOND;
  const count = Math.ceil(perSecond * seconds) + plan.senders.length;
  const queues = plan.senders.map((): SignedTransaction[] => []);
  for (let index = 0; index < count; index++) {
    queues[index % queues.length]?.push(signTransfer(plan, index));
    if (index % SIGNED_AT_ONCE !== 0) continue;
    onProgress("sign", index / count, `${index} of ${count} transactions signed`);
    await turn();
  }
  return queues;
}

function signTransfer({ senders, chainId, token }: Plan, index: number): SignedTransaction {
  const sender = senders[index % senders.length];
  const receiver = senders[(index + 1) % senders.length];
  if (sender === undefined || receiver === undefined) throw new Error("there is no sender");
  const call: Call =
    token === undefined
      ? { to: receiver.address, value: 0n, data: NO_DATA, gasLimit: TRANSFER_GAS }
      : {
          to: token,
          value: 0n,
          data: callData(TOKEN_SELECTORS.transfer, receiver.address, 1n),
          gasLimit: TOKEN_GAS,
        };
  return signNext(sender, chainId, call);
}

function callData(selector: string, ...words: readonly bigint[]): Uint8Array {
  const texts = words.map((word) => word.toString(16).padStart(64, "0"));
  return hexToBytes(`${selector}${texts.join("")}`);
}

/** The first transactions must be taken: what refuses them refuses all. */
async function refusedAs<Value>(work: Promise<Value>): Promise<Value> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof CodedError) throw error;
    const reason = shortReason(error instanceof Error ? error.message : String(error));
    throw new CodedError("BENCH_REFUSED", { reason }, error);
  }
}

function note(refusals: Record<string, number>, reason: string): void {
  const text = shortReason(reason);
  const isKnown = text in refusals || Object.keys(refusals).length < REASONS_MAX;
  const key = isKnown ? text : "others";
  refusals[key] = (refusals[key] ?? 0) + 1;
}

/** Behind the node's words stands the request that they answer. */
function shortReason(reason: string): string {
  return (reason.split(', to {"')[0] ?? reason).slice(0, REASON_LENGTH_MAX);
}
