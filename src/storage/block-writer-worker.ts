/** The thread that writes the block store: LMDB waits for the disk inside of its commit. */
import { parentPort, workerData } from "node:worker_threads";
import { invariant } from "../base/invariant.ts";
import { BlockTables, type BlockWrite } from "./block-tables.ts";
import {
  type LmdbEnvironment,
  lmdbErrorNumber,
  openEnvironmentReader,
} from "./lmdb-environment.ts";

export type WriterOptions = { readonly path: string };

export type WriterCommand =
  | { readonly kind: "write"; readonly blocks: readonly BlockWrite[] }
  /** The heights from `from` up to and not including `end`. */
  | { readonly kind: "remove"; readonly from: number; readonly end: number }
  | { readonly kind: "clear" }
  | { readonly kind: "close" };

/** One for each command, in their order. */
export type WriterOutcome =
  | { readonly ok: true }
  /** `errorNumber` is LMDB's or the system's. */
  | { readonly ok: false; readonly message: string; readonly errorNumber: number | undefined };

async function carryOut(
  environment: LmdbEnvironment,
  tables: BlockTables,
  command: WriterCommand,
): Promise<void> {
  switch (command.kind) {
    case "write":
      tables.write(command.blocks);
      return;
    case "remove":
      tables.remove(command.from, command.end);
      return;
    case "clear":
      tables.clear();
      return;
    case "close":
      await environment.close();
  }
}

function main(port: NonNullable<typeof parentPort>, { path }: WriterOptions): void {
  const environment = openEnvironmentReader(path);
  const tables = new BlockTables(environment);
  const post = (outcome: WriterOutcome): void => port.postMessage(outcome);
  const fail = (error: unknown): void => {
    const message = error instanceof Error ? error.message : String(error);
    post({ ok: false, message, errorNumber: lmdbErrorNumber(error) });
  };
  let turn = Promise.resolve();
  port.on("message", (command: WriterCommand) => {
    turn = turn
      .then(() => carryOut(environment, tables, command))
      .then(() => post({ ok: true }))
      .catch(fail);
  });
}

invariant(parentPort !== null, "this file is the entry of a thread");
main(parentPort, workerData as WriterOptions);
