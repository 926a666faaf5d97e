/**
 * One replica as a process of its own, so that a test can kill it. Its options are the argument.
 */
import type { LogFields } from "../../src/base/logger.ts";
import { ExecutionService } from "../../src/replica/execution/execution-service.ts";
import { ReplicaNode } from "../../src/replica/replica-node.ts";
import type { StartMode } from "../../src/replica/replica-options.ts";
import { Transport } from "../../src/transport/transport.ts";
import {
  encodeStateMessage,
  SNAPSHOT_CHUNK_TYPE,
  STATE_CHANNEL,
} from "../../src/wire/state-codec.ts";
import { HOST, replicaOptions } from "../support/replica-network.ts";

/** How a replica serves its state: it lies in every chunk, or refuses until it gets a SIGHUP. */
export type StateManners = "lies" | "refuses-until-told";

export type ReplicaProcessOptions = {
  readonly index: number;
  readonly dataPath: string;
  /** Of all replicas, by index. */
  readonly ports: readonly number[];
  readonly startMode: StartMode;
  /** Heights behind from which on the state is taken from a peer. */
  readonly transferGapMin?: number;
  readonly stateManners?: StateManners;
  /** Each block waits so long before it is executed, until the first state was taken over. */
  readonly executeDelayMs?: number;
};

const READY_LINE = "ready";
const OFFER_TYPE = 17;
/** In a chunk behind version, type, snapshot, count, kind and address: of the first account. */
const NONCE_OFFSET = 2 + 4 + 4 + 1 + 20 + 7;

async function main(text: string): Promise<void> {
  const options = JSON.parse(text) as ReplicaProcessOptions;
  const { index, dataPath, ports, startMode, transferGapMin: gapMin } = options;
  if (options.stateManners !== undefined) misbehave(index, options.stateManners);
  let mustBeSlow = options.executeDelayMs !== undefined;
  if (mustBeSlow) slowDown(options.executeDelayMs ?? 0, () => mustBeSlow);
  const endpoints = ports.map((port) => ({ host: HOST, port }));
  const log = (message: string, fields?: LogFields): void => {
    process.stderr.write(`${index} ${message} ${JSON.stringify(fields ?? {})}\n`);
  };
  const node = await ReplicaNode.open(
    replicaOptions(index, dataPath, {
      listen: endpoints[index]!,
      replicas: endpoints,
      startMode,
      ...(gapMin !== undefined && { stateTransfer: { gapMin } }),
    }),
    {
      logger: { debug: () => undefined, info: log, warn: log, error: log },
      onFatal: () => process.exit(1),
    },
  );
  const watch = setInterval(() => {
    mustBeSlow = mustBeSlow && node.counters.stateTransfers === 0;
    if (!mustBeSlow) clearInterval(watch);
  }, 20);
  process.once("SIGTERM", () => {
    node.close().then(
      () => process.exit(0),
      () => process.exit(1),
    );
  });
  process.on("SIGUSR2", () => process.stdout.write(`${JSON.stringify(node.counters)}\n`));
  process.stdout.write(`${READY_LINE}\n`);
}

/**
 * Small blocks are executed faster than a state is fetched, so the test makes them slow. It blocks
 * the thread that feeds them: a block that came later would belong to the state before.
 */
function slowDown(delayMs: number, mustBeSlow: () => boolean): void {
  // eslint-disable-next-line @typescript-eslint/unbound-method -- called with its own `this` below
  const { execute } = ExecutionService.prototype;
  ExecutionService.prototype.execute = function executeLater(this: ExecutionService, ...given) {
    if (mustBeSlow()) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, delayMs);
    execute.apply(this, given);
  };
}

/** Changes frames on their way out, and knows nothing else of the replica. */
function misbehave(index: number, manners: StateManners): void {
  // eslint-disable-next-line @typescript-eslint/unbound-method -- called with its own `this` below
  const { send } = Transport.prototype;
  let isTold = false;
  process.once("SIGHUP", () => (isTold = true));
  Transport.prototype.send = function sendOther(this: Transport, to, frame) {
    const [channel, bytes] = frame instanceof Uint8Array ? [] : frame;
    if (channel?.[0] !== STATE_CHANNEL || bytes === undefined) return send.call(this, to, frame);
    if (manners === "lies" && bytes[1] === SNAPSHOT_CHUNK_TYPE) {
      process.stderr.write(`${index} lies about its state to ${to}\n`);
      const lie = Uint8Array.from(bytes);
      lie[NONCE_OFFSET] = ((lie[NONCE_OFFSET] ?? 0) + 1) % 256;
      return send.call(this, to, [channel, lie]);
    }
    if (manners === "refuses-until-told" && bytes[1] === OFFER_TYPE && !isTold) {
      const refusal = { kind: "snapshotRefused", code: "SNAPSHOT_BUSY" } as const;
      return send.call(this, to, [channel, encodeStateMessage(refusal)]);
    }
    return send.call(this, to, frame);
  };
}

main(process.argv[2] ?? "").catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exit(1);
});
