/**
 * One replica as a process of its own, so that a test can kill it. Its options are the argument.
 */
import type { LogFields } from "../../src/base/logger.ts";
import { ReplicaNode } from "../../src/replica/replica-node.ts";
import type { StartMode } from "../../src/replica/replica-options.ts";
import { HOST, replicaOptions } from "../support/replica-network.ts";

export type ReplicaProcessOptions = {
  readonly index: number;
  readonly dataPath: string;
  /** Of all replicas, by index. */
  readonly ports: readonly number[];
  readonly startMode: StartMode;
};

const READY_LINE = "ready";

async function main(text: string): Promise<void> {
  const { index, dataPath, ports, startMode } = JSON.parse(text) as ReplicaProcessOptions;
  const endpoints = ports.map((port) => ({ host: HOST, port }));
  const log = (message: string, fields?: LogFields): void => {
    process.stderr.write(`${index} ${message} ${JSON.stringify(fields ?? {})}\n`);
  };
  const node = await ReplicaNode.open(
    replicaOptions(index, dataPath, {
      listen: endpoints[index]!,
      replicas: endpoints,
      startMode,
    }),
    {
      logger: { debug: () => undefined, info: log, warn: log, error: log },
      onFatal: () => process.exit(1),
    },
  );
  process.once("SIGTERM", () => {
    node.close().then(
      () => process.exit(0),
      () => process.exit(1),
    );
  });
  process.stdout.write(`${READY_LINE}\n`);
}

main(process.argv[2] ?? "").catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exit(1);
});
