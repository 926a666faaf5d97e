/**
 * Runs a node program: opens it, reports that it is ready, waits for the end, closes it within a
 * deadline. The end is a signal, a failure of the node, or the end of the supervisor, whose channel
 * then closes: a supervisor that was killed leaves no process behind that holds ports and data.
 */
import { flushCompileCache } from "node:module";
import { CodedError } from "../base/coded-error.ts";
import type { Logger } from "../base/logger.ts";
import { errorLine, explain, type Explanation } from "./error-line.ts";

/** Messages from a node to the supervisor that started it. */
export type NodeMessage =
  | { readonly kind: "loaded" }
  | { readonly kind: "started" }
  | { readonly kind: "ready" }
  | ({ readonly kind: "failed" } & Explanation);

export type RunningNode = { close(): Promise<void> };

export type NodeProgram = {
  readonly logger: Logger;
  /** Writes out what is still buffered. */
  readonly flush: () => Promise<void>;
  /** `onFatal` may be called at any time, once the node cannot go on. */
  readonly open: (onFatal: (error: unknown) => void) => Promise<RunningNode>;
  /** What must hold before the node reports that it is ready; the node is open while it waits. */
  readonly whenReady?: (node: RunningNode) => Promise<void>;
};

export const SUPERVISED_VARIABLE = "QUORATE_SUPERVISED";

const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
/** Longer than a clean stop needs; the supervisor waits a little longer than this. */
export const CLOSE_TIMEOUT_MS = 10_000;

/**
 * All code of the program has been read. It is kept compiled at once, so that nodes that start
 * after this one need not do it again.
 */
export function noteLoaded(): void {
  flushCompileCache();
  tell({ kind: "loaded" });
}

/** The exit code. */
export async function runNode(program: NodeProgram): Promise<number> {
  const { logger } = program;
  const ended = Promise.withResolvers<unknown>();
  // A rejection without a listener must not end the process.
  ended.promise.catch(() => undefined);
  const stop = (): void => ended.resolve(undefined);
  for (const signal of SIGNALS) process.on(signal, stop);
  if (process.env[SUPERVISED_VARIABLE] !== undefined) {
    process.once("disconnect", stop);
    // The supervisor may have ended while this process was still loading its code.
    if (!process.connected) stop();
  }
  process.on("uncaughtException", (error) => ended.reject(error));
  process.on("unhandledRejection", (error) => ended.reject(error));
  let node: RunningNode | undefined;
  try {
    node = await program.open((error) => ended.reject(error));
    tell({ kind: "started" });
    const isReady = program.whenReady?.(node).then(() => true) ?? Promise.resolve(true);
    const first = await Promise.race([isReady, ended.promise]);
    if (first === true) {
      tell({ kind: "ready" });
      // Written now for the next start: later the process may be killed before it can.
      flushCompileCache();
      await ended.promise;
    }
    logger.info("stopping");
    await closeInTime(node);
    logger.info("stopped");
    return 0;
  } catch (error) {
    const { code, sentence } = explain(error);
    const stack =
      error instanceof CodedError || !(error instanceof Error) ? undefined : error.stack;
    logger.error("the node cannot go on", { code, reason: sentence, stack });
    await program.flush();
    process.stderr.write(`${errorLine(error)}\n`);
    tell({ kind: "failed", code, sentence });
    if (node !== undefined) await closeInTime(node).catch(() => undefined);
    return 1;
  } finally {
    await program.flush();
  }
}

/** Whatever keeps the process alive after the deadline is abandoned: the caller exits. */
async function closeInTime(node: RunningNode): Promise<void> {
  const late = Promise.withResolvers<undefined>();
  const timer = setTimeout(() => late.resolve(undefined), CLOSE_TIMEOUT_MS);
  await Promise.race([node.close(), late.promise]);
  clearTimeout(timer);
}

function tell(message: NodeMessage): void {
  if (process.send === undefined || !process.connected) return;
  process.send(message, undefined, undefined, () => undefined);
}
