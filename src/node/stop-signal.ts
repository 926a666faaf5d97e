/**
 * Ctrl-C and SIGTERM. The first asks for a clean stop, a later one for a hard one. Terminals and
 * npm both pass one Ctrl-C on, so what comes within a moment of the first is the same one.
 */
export type StopSignal = {
  readonly asked: Promise<unknown>;
  onHard(listener: () => void): void;
};

const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
const SAME_MS = 500;

export function createStopSignal(): StopSignal {
  const { promise, resolve } = Promise.withResolvers<undefined>();
  const listeners: (() => void)[] = [];
  let firstMs: number | undefined;
  for (const signal of SIGNALS) {
    process.on(signal, () => {
      const nowMs = performance.now();
      if (firstMs === undefined) {
        firstMs = nowMs;
        resolve(undefined);
      } else if (nowMs - firstMs > SAME_MS) {
        for (const listener of listeners) listener();
      }
    });
  }
  return { asked: promise, onHard: (listener) => void listeners.push(listener) };
}
