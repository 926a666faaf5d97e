/**
 * `npm run bench -- rpc [--seconds N] [--only TEXT]`: our network and Anvil, side by side in one
 * run, on the same chain and with the same requests, over HTTP with keep-alive and over WebSocket.
 * They are asked in turns, in slices, so that what else the machine does hits both alike.
 */
import { fork, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { loadavg } from "node:os";
import { bytesToHex, type Hex } from "../src/base/hex.ts";
import { anvilProgram, startAnvil } from "../test/support/processes/anvil-process.ts";
import { rpc, startNetwork } from "../test/support/processes/network-process.ts";
import type { Values } from "../test/support/script-arguments.ts";
import { callData } from "./support/contract-bytecode.ts";
import { percentile } from "../src/cli/bench/percentiles.ts";
import { cpuSeconds } from "./network/process-usage.ts";
import {
  FULL_BLOCK_TRANSACTIONS,
  LOG_BLOCKS,
  OWNER,
  prepareChain,
  type PreparedChain,
} from "./rpc/chain.ts";
import type { Transport } from "./rpc/raw-connection.ts";
import type { Order, Report } from "./rpc/worker.ts";

export const PARAMETERS = {
  seconds: { kind: "number", fallback: 2, min: 0.1 },
  only: { kind: "text", fallback: "" },
} as const;

const CONNECTIONS = 8;
const SLICES = 4;
/**
 * By requests, not by time: V8 compiles what it has seen often enough, and takes its time for it on
 * a busy machine. Once for all that the requests of a transport share, then for each request.
 */
const WARM_UP_TRANSPORT = { durationMs: 300, requestsMin: 80_000, durationMaxMs: 8_000 } as const;
const WARM_UP = { durationMs: 300, requestsMin: 20_000, durationMaxMs: 2_500 } as const;
const TRANSPORTS: readonly Transport[] = ["http", "websocket"];

type Server = PreparedChain & { readonly name: string; readonly url: string; readonly pid: number };
type Request = { readonly method: string; readonly params: readonly unknown[] };

export async function printRpc({ seconds, only }: Values<typeof PARAMETERS>): Promise<void> {
  const sliceMs = (seconds * 1_000) / SLICES;
  const program = anvilProgram();
  const network = await startNetwork({});
  const anvil =
    program === undefined
      ? undefined
      : await startAnvil(program, { chainId: network.chainId, gasLimit: 60_000_000n });
  const load = new Load();
  try {
    const key = network.accounts[0]!.privateKey;
    const url = `${network.url.replace("localhost", "127.0.0.1")}/standard`;
    const pid = network.pid("client-0")!;
    const servers: Server[] = [
      { name: "ours", url, pid, ...(await prepareChain(url, key, false)) },
    ];
    if (anvil !== undefined) {
      const chain = await prepareChain(anvil.url, key, true);
      servers.push({ name: "anvil", url: anvil.url, pid: anvil.process.pid!, ...chain });
    }
    const names = Object.keys(requestsOf(servers[0]!));
    const rows = [];
    for (const transport of TRANSPORTS) {
      for (const server of servers) {
        await new Measurement(server).run(load, transport, "eth_blockNumber", WARM_UP_TRANSPORT);
      }
      for (const name of names.filter((one) => one.includes(only))) {
        rows.push(await measureRow(load, servers, { transport, name, sliceMs }));
      }
    }
    console.table(rows);
    const busy = loadavg().map((average) => average.toFixed(1));
    console.log(`load averages of the machine over 1, 5 and 15 minutes: ${busy.join(", ")}`);
  } finally {
    load.close();
    await anvil?.stop();
    await network.stop();
  }
}

function requestsOf({ token, fullBlock, lastBlock }: Server): Readonly<Record<string, Request>> {
  const data = bytesToHex(callData("Token", "balanceOf(address)", BigInt(OWNER)));
  const fromBlock = toHex(lastBlock - LOG_BLOCKS + 1);
  const range = { fromBlock, toBlock: toHex(lastBlock), address: token };
  return {
    eth_blockNumber: { method: "eth_blockNumber", params: [] },
    eth_getBalance: { method: "eth_getBalance", params: [OWNER, "latest"] },
    "eth_call balanceOf": { method: "eth_call", params: [{ to: token, data }, "latest"] },
    [`eth_getBlockByNumber, ${FULL_BLOCK_TRANSACTIONS} full`]: {
      method: "eth_getBlockByNumber",
      params: [fullBlock, true],
    },
    [`eth_getLogs, ${LOG_BLOCKS} blocks`]: { method: "eth_getLogs", params: [range] },
    [`eth_getLogs, ${LOG_BLOCKS} blocks, none`]: {
      method: "eth_getLogs",
      params: [{ ...range, address: OWNER }],
    },
  };
}

type Pace = Pick<Order, "durationMs" | "requestsMin" | "durationMaxMs">;
type Row = { readonly transport: Transport; readonly name: string; readonly sliceMs: number };

async function measureRow(
  load: Load,
  servers: readonly Server[],
  { transport, name, sliceMs }: Row,
): Promise<Record<string, string>> {
  const measured = servers.map((server) => new Measurement(server));
  for (const one of measured) await one.checkAnswer(name);
  for (const one of measured) await one.run(load, transport, name, WARM_UP);
  for (const one of measured) one.clear();
  const slice = { durationMs: sliceMs, requestsMin: 0, durationMaxMs: 0 };
  for (let round = 0; round < SLICES; round++) {
    for (const one of measured) await one.run(load, transport, name, slice);
  }
  const [ours, theirs] = measured;
  const columns = Object.assign({}, ...measured.map((one) => one.columns())) as object;
  const ratio = theirs && { ratio: (ours!.perSecond / theirs.perSecond).toFixed(2) };
  return { request: `${transport} ${name}`, ...columns, ...ratio };
}

class Measurement {
  readonly #server: Server;
  #latencies: number[] = [];
  #seconds = 0;
  #serverCpu = 0;
  #loadCpu = 0;
  #answerSize = 0;

  constructor(server: Server) {
    this.#server = server;
  }

  get perSecond(): number {
    return this.#latencies.length / this.#seconds;
  }

  /** An error would be quicker than an answer. */
  async checkAnswer(name: string): Promise<void> {
    const { method, params } = requestsOf(this.#server)[name]!;
    await rpc(this.#server.url, method, params);
  }

  async run(load: Load, transport: Transport, name: string, pace: Pace): Promise<void> {
    const { url, pid } = this.#server;
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, ...requestsOf(this.#server)[name] });
    const cpuBefore = cpuSeconds(pid);
    const order = { transport, url, body, connectionCount: CONNECTIONS, ...pace };
    const result = await load.run(order);
    this.#serverCpu += cpuSeconds(pid) - cpuBefore;
    this.#latencies = this.#latencies.concat(result.latencies);
    this.#seconds += result.seconds;
    this.#loadCpu += result.cpuSeconds;
    this.#answerSize = result.answerSize;
  }

  clear(): void {
    this.#latencies = [];
    this.#seconds = this.#serverCpu = this.#loadCpu = 0;
  }

  /** `us` is the CPU time that a request took: it says more than the rate on a busy machine. */
  columns(): Record<string, string> {
    const { name } = this.#server;
    return {
      [`${name} bytes`]: String(this.#answerSize),
      [`${name} /s`]: this.perSecond.toFixed(0),
      [`${name} p99 ms`]: percentile(this.#latencies, 0.99).toFixed(2),
      [`${name} us`]: ((this.#serverCpu * 1e6) / this.#latencies.length).toFixed(0),
      [`${name} cores`]: (this.#serverCpu / this.#seconds).toFixed(2),
      [`${name} load cores`]: (this.#loadCpu / this.#seconds).toFixed(2),
    };
  }
}

/** The process that asks. */
class Load {
  readonly #child: ChildProcess = fork(new URL("./rpc/worker.ts", import.meta.url), {
    serialization: "advanced",
  });

  async run(order: Order): Promise<Extract<Report, { readonly kind: "loaded" }>> {
    const answered = once(this.#child, "message") as Promise<[Report]>;
    this.#child.send(order);
    const [report] = await answered;
    if (report.kind === "failed") throw new Error(report.reason);
    return report;
  }

  close(): void {
    this.#child.kill();
  }
}

function toHex(value: number): Hex {
  return `0x${value.toString(16)}`;
}
