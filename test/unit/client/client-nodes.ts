/** Client nodes under test: real disk, real links, short times. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { ClientNode } from "../../../src/client/client-node.ts";
import type { ClientOptions } from "../../../src/client/client-options.ts";
import { CLIENT, GENESIS, seedOf, SILENT_LOGGER } from "../../support/replica-network.ts";
import type { ServingNetwork } from "./serving-replicas.ts";

export type OpenedNode = { readonly node: ClientNode; readonly failures: unknown[] };

export function clientOptions(
  dataPath: string,
  replicas: ClientOptions["replicas"],
  more: Partial<ClientOptions> = {},
): ClientOptions {
  return {
    genesis: GENESIS,
    seed: seedOf(CLIENT),
    dataPath,
    replicas,
    journalSegmentSize: 256 * 1024,
    timing: { stallMs: 150, statusMs: 100, stateFlushMs: 50 },
    ...more,
  };
}

export async function openClient(
  dataPath: string,
  network: ServingNetwork | undefined,
  more: Partial<ClientOptions> = {},
  now: () => number = Date.now,
): Promise<OpenedNode> {
  const failures: unknown[] = [];
  const logger =
    process.env["CLIENT_LOG"] === undefined
      ? SILENT_LOGGER
      : {
          debug: (message: string, fields?: object) => console.log(message, fields),
          info: (message: string, fields?: object) => console.log(message, fields),
          warn: (message: string, fields?: object) => console.log(message, fields),
          error: (message: string, fields?: object) => console.log(message, fields),
        };
  const node = await ClientNode.open(clientOptions(dataPath, network?.endpoints ?? [], more), {
    logger,
    onFatal: (error) => failures.push(error),
    now,
  });
  return { node, failures };
}

export function temporaryDirectory(): { readonly path: string; remove(): void } {
  const directory = mkdtempSync(path.join(tmpdir(), "quorate-client-"));
  return {
    path: directory,
    remove: () => rmSync(directory, { recursive: true, force: true }),
  };
}
