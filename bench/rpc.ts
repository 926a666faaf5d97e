/**
 * `npm run bench -- rpc [--seconds N]`: our network and Anvil, side by side in one run, with the
 * same contract and the same requests, over HTTP with keep-alive and over WebSocket.
 */
import { parseArgs } from "node:util";
import { privateKeyToAccount } from "viem/accounts";
import { bytesToHex, type Hex } from "../src/base/hex.ts";
import { anvilProgram, startAnvil } from "../test/support/anvil-process.ts";
import { rpc, startNetwork, waitFor } from "../test/support/network-process.ts";
import { callData, creationCode } from "./contract-bytecode.ts";
import { percentile } from "./network/percentiles.ts";
import { cpuSeconds } from "./network/process-usage.ts";
import { RpcConnection } from "./network/rpc-connection.ts";
import { SocketConnection } from "./network/socket-connection.ts";

const CONNECTIONS = 8;
const LOG_BLOCKS = 1_000;
const FULL_BLOCK_TRANSACTIONS = 100;
/** Blocks in which the logs are: the others of the range are full of plain transfers or empty. */
const MINTS = 100;
const OWNER = "0x00000000000000000000000000000000000a11ce";

type Server = {
  readonly name: string;
  readonly url: string;
  readonly pid: number;
  readonly token: Hex;
  readonly fullBlock: Hex;
  readonly lastBlock: number;
};
type Request = { readonly method: string; readonly params: readonly unknown[] };
type Connection = {
  call(method: string, params: readonly unknown[]): Promise<unknown>;
  close(): void;
};
type Measured = { readonly perSecond: number; readonly p99Ms: number; readonly cores: number };

export async function printRpc(args: readonly string[]): Promise<void> {
  const { values } = parseArgs({ args: [...args], options: { seconds: { type: "string" } } });
  const durationMs = Number(values.seconds ?? "2") * 1_000;
  const program = anvilProgram();
  const network = await startNetwork({});
  const anvil =
    program === undefined
      ? undefined
      : await startAnvil(program, { chainId: network.chainId, gasLimit: 60_000_000n });
  try {
    const key = network.accounts[0]!.privateKey;
    const standard = `${network.url.replace("localhost", "127.0.0.1")}/standard`;
    const ours = await prepare("ours", standard, network.pid("client-0")!, key);
    const theirs =
      anvil === undefined ? undefined : await prepare("anvil", anvil.url, anvil.process.pid!, key);
    const rows = [];
    for (const transport of ["http", "websocket"] as const) {
      for (const name of Object.keys(requestsOf(ours))) {
        const own = await measure(ours, name, transport, durationMs);
        const other = theirs && (await measure(theirs, name, transport, durationMs));
        rows.push({
          request: `${transport} ${name}`,
          ...columns("ours", own),
          ...(other && columns("anvil", other)),
          ...(other && { ratio: (own.perSecond / other.perSecond).toFixed(2) }),
        });
      }
    }
    console.table(rows);
  } finally {
    await anvil?.stop();
    await network.stop();
  }
}

function columns(name: string, { perSecond, p99Ms, cores }: Measured): Record<string, string> {
  return {
    [`${name} /s`]: perSecond.toFixed(0),
    [`${name} p99 ms`]: p99Ms.toFixed(2),
    [`${name} cores`]: cores.toFixed(2),
  };
}

function requestsOf(server: Server): Readonly<Record<string, Request>> {
  const { token, fullBlock, lastBlock } = server;
  const from = Math.max(0, lastBlock - LOG_BLOCKS + 1);
  const data = bytesToHex(callData("Token", "balanceOf(address)", BigInt(OWNER)));
  const range = { fromBlock: toHex(from), toBlock: toHex(lastBlock), address: token };
  return {
    eth_blockNumber: { method: "eth_blockNumber", params: [] },
    eth_getBalance: { method: "eth_getBalance", params: [OWNER, "latest"] },
    "eth_call balanceOf": { method: "eth_call", params: [{ to: token, data }, "latest"] },
    [`eth_getBlockByNumber, ${FULL_BLOCK_TRANSACTIONS} full`]: {
      method: "eth_getBlockByNumber",
      params: [fullBlock, true],
    },
    [`eth_getLogs, ${LOG_BLOCKS} blocks`]: { method: "eth_getLogs", params: [range] },
  };
}

/** The same chain on both: a token, blocks with logs, a full block, blocks up to the range. */
async function prepare(name: string, url: string, pid: number, key: Hex): Promise<Server> {
  const account = privateKeyToAccount(key);
  const chainId = Number(await rpc(url, "eth_chainId"));
  let nonce = 0;
  const sign = (to: Hex | undefined, data: Hex): Promise<Hex> =>
    account.signTransaction({
      ...{ chainId, nonce: nonce++, gas: 1_000_000n, data, ...(to && { to }) },
      ...{ maxFeePerGas: 0n, maxPriorityFeePerGas: 0n },
    });
  const submit = async (raw: Hex): Promise<Hex> =>
    (await rpc(url, "eth_sendRawTransaction", [raw])) as Hex;
  type Receipt = { readonly contractAddress: Hex; readonly blockNumber: Hex };
  const receiptOf = async (hash: Hex): Promise<Receipt> => {
    let receipt: Receipt | null = null;
    const isThere = async (): Promise<boolean> => {
      receipt = (await rpc(url, "eth_getTransactionReceipt", [hash])) as Receipt | null;
      return receipt !== null;
    };
    await waitFor(isThere, "a receipt");
    return receipt!;
  };
  const code = bytesToHex(creationCode("Token"));
  const { contractAddress: token } = await receiptOf(await submit(await sign(undefined, code)));
  const mint = bytesToHex(callData("Token", "mint(address,uint256)", BigInt(OWNER), 1n));
  for (let i = 0; i < MINTS; i++) await receiptOf(await submit(await sign(token, mint)));
  const fullBlock = await makeFullBlock(name, url, sign, receiptOf);
  for (;;) {
    const lastBlock = Number(await rpc(url, "eth_blockNumber"));
    if (lastBlock >= LOG_BLOCKS) return { name, url, pid, token, fullBlock, lastBlock };
    if (name === "anvil") await rpc(url, "anvil_mine", [toHex(LOG_BLOCKS - lastBlock)]);
    else await receiptOf(await submit(await sign(account.address, "0x")));
  }
}

/** Ours cannot be told what to put into a block: a burst is, and the fullest block is taken. */
async function makeFullBlock(
  name: string,
  url: string,
  sign: (to: Hex, data: Hex) => Promise<Hex>,
  receiptOf: (hash: Hex) => Promise<{ readonly blockNumber: Hex }>,
): Promise<Hex> {
  const raws: Hex[] = [];
  const count = name === "anvil" ? FULL_BLOCK_TRANSACTIONS : 4 * FULL_BLOCK_TRANSACTIONS;
  for (let i = 0; i < count; i++) raws.push(await sign(OWNER, "0x"));
  if (name === "anvil") await rpc(url, "evm_setAutomine", [false]);
  const hashes = await submitBatch(url, raws);
  if (name === "anvil") await rpc(url, "evm_mine");
  const receipts = [];
  for (const hash of hashes) receipts.push(await receiptOf(hash));
  if (name === "anvil") await rpc(url, "evm_setAutomine", [true]);
  const sizes = Map.groupBy(receipts, ({ blockNumber }) => blockNumber);
  const distance = (size: number): number => Math.abs(size - FULL_BLOCK_TRANSACTIONS);
  const [best] = [...sizes].sort(([, a], [, b]) => distance(a.length) - distance(b.length));
  console.log(`${name}: the full block has ${best![1].length} transactions`);
  return best![0];
}

async function submitBatch(url: string, raws: readonly Hex[]): Promise<Hex[]> {
  const response = await fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(
      raws.map((raw, id) => ({
        ...{ jsonrpc: "2.0", id, method: "eth_sendRawTransaction" },
        params: [raw],
      })),
    ),
  });
  const answers = (await response.json()) as { readonly result: Hex }[];
  return answers.map(({ result }) => result);
}

async function measure(
  { url, pid, ...server }: Server,
  name: string,
  transport: "http" | "websocket",
  durationMs: number,
): Promise<Measured> {
  const { method, params } = requestsOf({ url, pid, ...server })[name]!;
  const connections: Connection[] = await Promise.all(
    Array.from({ length: CONNECTIONS }, () =>
      transport === "http"
        ? RpcConnection.open(url, new URL(url).pathname)
        : SocketConnection.open(url),
    ),
  );
  const run = async (untilMs: number): Promise<number[]> => {
    const latencies: number[] = [];
    const lane = async (connection: Connection): Promise<void> => {
      for (let startMs = performance.now(); startMs < untilMs;) {
        await connection.call(method, params);
        const endMs = performance.now();
        latencies.push(endMs - startMs);
        startMs = endMs;
      }
    };
    await Promise.all(connections.map(lane));
    return latencies;
  };
  await run(performance.now() + durationMs / 4);
  const cpuBefore = cpuSeconds(pid);
  const startedMs = performance.now();
  const latencies = await run(startedMs + durationMs);
  const seconds = (performance.now() - startedMs) / 1_000;
  const cores = (cpuSeconds(pid) - cpuBefore) / seconds;
  for (const connection of connections) connection.close();
  return { perSecond: latencies.length / seconds, p99Ms: percentile(latencies, 0.99), cores };
}

function toHex(value: number): Hex {
  return `0x${value.toString(16)}`;
}
