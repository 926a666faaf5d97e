/**
 * The load as a process of its own, so that its CPU time can be told from that of the servers. The
 * same code asks both.
 */
import { RawConnection, type Transport } from "./raw-connection.ts";

export type Order = {
  readonly transport: Transport;
  readonly url: string;
  readonly body: string;
  readonly connectionCount: number;
  readonly durationMs: number;
  /** It goes on for up to `durationMaxMs` until there were so many. */
  readonly requestsMin: number;
  readonly durationMaxMs: number;
};

export type Report =
  | { readonly kind: "failed"; readonly reason: string }
  | {
      readonly kind: "loaded";
      readonly latencies: readonly number[];
      readonly seconds: number;
      readonly cpuSeconds: number;
      readonly answerSize: number;
    };

async function load(order: Order): Promise<Report> {
  const { transport, url, body, connectionCount, requestsMin } = order;
  const connections = await Promise.all(
    Array.from({ length: connectionCount }, () => RawConnection.open(transport, url, body)),
  );
  const latencies: number[] = [];
  const sizes = new Set<number>();
  const cpuBefore = process.cpuUsage();
  const startedMs = performance.now();
  const endMs = startedMs + order.durationMs;
  const endMaxMs = startedMs + Math.max(order.durationMs, order.durationMaxMs);
  const isOver = (nowMs: number): boolean =>
    nowMs >= endMs && (latencies.length >= requestsMin || nowMs >= endMaxMs);
  const lane = (connection: RawConnection): Promise<void> =>
    new Promise((resolve) => {
      let askedMs = performance.now();
      const onAnswer = (size: number): void => {
        const nowMs = performance.now();
        latencies.push(nowMs - askedMs);
        sizes.add(size);
        askedMs = nowMs;
        if (isOver(nowMs)) resolve();
        else connection.ask(onAnswer);
      };
      connection.ask(onAnswer);
    });
  await Promise.all(connections.map(lane));
  const seconds = (performance.now() - startedMs) / 1_000;
  const { user, system } = process.cpuUsage(cpuBefore);
  for (const connection of connections) connection.close();
  const [answerSize] = sizes;
  if (answerSize === undefined || sizes.size > 1) throw new Error("answers differ in size");
  const cpuSeconds = (user + system) / 1e6;
  return { kind: "loaded", latencies, seconds, cpuSeconds, answerSize };
}

process.on("message", (order: Order) => {
  void load(order)
    .catch((error: unknown): Report => ({ kind: "failed", reason: String(error) }))
    .then((report) => process.send?.(report));
});
