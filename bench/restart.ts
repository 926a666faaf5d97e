/**
 * How long a node takes to start on a long chain. `npm run bench -- restart [--blocks N]` makes the
 * blocks through ethrpc, few transactions each, then restarts every node once.
 */
import { availableParallelism, tmpdir } from "node:os";
import { mkdtempSync } from "node:fs";
import path from "node:path";
import { LooseNodes } from "../test/support/processes/loose-nodes.ts";
import { SERVICES } from "../test/support/processes/network-process.ts";
import type { Values } from "../test/support/script-arguments.ts";
import { RpcConnection } from "../src/cli/bench/rpc-connection.ts";
import { createSenders, signNext } from "../src/cli/bench/senders.ts";

export const PARAMETERS = {
  blocks: { kind: "number", fallback: 100_000, min: 1, isWhole: true, isPositional: true },
} as const;
/** Under way at a time: with more, a leader gathers, and blocks are larger instead of more. */
const SENDERS = 3;
const PROGRESS_EVERY = 10_000;

export async function printRestartBench({ blocks }: Values<typeof PARAMETERS>): Promise<void> {
  const nodes = await LooseNodes.start(mkdtempSync(path.join(tmpdir(), "quorate-restart-")));
  try {
    const startMs = performance.now();
    await makeBlocks(nodes, blocks);
    const seconds = (performance.now() - startMs) / 1000;
    print(`${availableParallelism()} cores; ${blocks} blocks made in ${seconds.toFixed(0)} s`);
    for (const how of ["SIGTERM", "SIGKILL"] as const) {
      for (const service of SERVICES) {
        await nodes.kill(service, how);
        const startedMs = performance.now();
        nodes.run(service);
        await nodes.whenReady(service, 120_000);
        const tookMs = performance.now() - startedMs;
        print(`${service} after ${how}: ready in ${(tookMs / 1000).toFixed(2)} s`);
      }
    }
  } finally {
    await nodes.close();
  }
}

async function makeBlocks(nodes: LooseNodes, blocks: number): Promise<void> {
  let newest = 0;
  let shown = 0;
  await Promise.all(
    createSenders(SENDERS).map(async (sender) => {
      const connection = await RpcConnection.open(nodes.url);
      while (newest < blocks) {
        const { address: to } = sender;
        const call = { to, value: 0n, data: new Uint8Array(0), gasLimit: 21_000n };
        const { hash, body } = signNext(sender, nodes.chainId, call);
        await connection.send(body);
        newest = Math.max(newest, await blockOf(connection, hash));
        if (newest - shown >= PROGRESS_EVERY) {
          shown = newest;
          print(`${newest} blocks`);
        }
      }
      connection.close();
    }),
  );
}

/** The node waits for a while until there is a receipt. */
async function blockOf(connection: RpcConnection, hash: string): Promise<number> {
  for (;;) {
    const receipt = await connection.call("eth_getTransactionReceipt", [hash]);
    if (receipt !== null) return Number((receipt as { readonly blockNumber: string }).blockNumber);
  }
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
