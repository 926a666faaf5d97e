/** The thread that keeps and sends log lines. Its work and its waits do not delay the node. */
import { isMainThread, parentPort, workerData, type MessagePort } from "node:worker_threads";
import type { ShipperEndpoint } from "./shipper-endpoint.ts";
import { countLines } from "./shipper-segment.ts";
import { Sender, type SenderStatus, type SenderTiming } from "./shipper-sender.ts";
import { Spool, type SpoolOptions } from "./shipper-spool.ts";

export type ShipperWorkerOptions = {
  readonly endpoints: readonly ShipperEndpoint[];
  readonly spool: SpoolOptions;
  readonly timing: SenderTiming;
};

export type ToShipper =
  | { readonly kind: "lines"; readonly text: string }
  /** Sends what it can within the time, then ends. */
  | { readonly kind: "close"; readonly withinMs: number };

export type EndpointStats = SenderStatus & {
  readonly name: string;
  readonly waitingLines: number;
  readonly droppedLines: number;
};

export type ShipperStats = {
  readonly endpoints: readonly EndpointStats[];
  readonly spoolSize: number;
  readonly isDegraded: boolean;
};

export type FromShipper =
  | { readonly kind: "kept"; readonly length: number }
  | { readonly kind: "stats"; readonly stats: ShipperStats }
  | { readonly kind: "closed"; readonly stats: ShipperStats };

const STATS_INTERVAL_MS = 250;
const SAVE_INTERVAL_MS = 500;
const CLOSE_POLL_MS = 20;

if (!isMainThread && parentPort !== null) serve(parentPort, workerData as ShipperWorkerOptions);

function serve(
  port: MessagePort,
  { endpoints, spool: options, timing }: ShipperWorkerOptions,
): void {
  const names = endpoints.map(({ name }) => name);
  const spool = new Spool(options, names);
  let statsTimer: NodeJS.Timeout | undefined;
  let saveTimer: NodeJS.Timeout | undefined;
  const tell = (message: FromShipper): void => port.postMessage(message);
  const onChange = (): void => {
    statsTimer ??= setTimeout(() => {
      statsTimer = undefined;
      tell({ kind: "stats", stats: stats() });
    }, STATS_INTERVAL_MS);
    saveTimer ??= setTimeout(() => {
      saveTimer = undefined;
      spool.savePlaces();
    }, SAVE_INTERVAL_MS);
  };
  const senders = endpoints.map((endpoint) => new Sender(endpoint, timing, { spool, onChange }));

  function stats(): ShipperStats {
    return {
      endpoints: senders.map(({ status }, index) => {
        const name = names[index] ?? "";
        const waitingLines = spool.waitingLines(name);
        return { ...status, name, waitingLines, droppedLines: spool.droppedLines(name) };
      }),
      spoolSize: spool.size,
      isDegraded: spool.isDegraded,
    };
  }

  async function close(withinMs: number): Promise<void> {
    const deadlineMs = performance.now() + withinMs;
    const isEmpty = (): boolean => names.every((name) => spool.waitingLines(name) === 0);
    while (!isEmpty() && performance.now() < deadlineMs) {
      await new Promise((resolve) => setTimeout(resolve, CLOSE_POLL_MS));
    }
    await Promise.all(senders.map((sender) => sender.stop()));
    clearTimeout(statsTimer);
    clearTimeout(saveTimer);
    const last = stats();
    spool.close();
    tell({ kind: "closed", stats: last });
    port.close();
  }

  port.on("message", (message: ToShipper) => {
    if (message.kind === "close") {
      void close(message.withinMs);
      return;
    }
    const bytes = Buffer.from(message.text);
    spool.append({ bytes, lineCount: countLines(bytes) });
    tell({ kind: "kept", length: message.text.length });
    for (const sender of senders) sender.wake();
    onChange();
  });
  for (const sender of senders) sender.start();
}
