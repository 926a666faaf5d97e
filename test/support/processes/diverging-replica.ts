/**
 * Loaded into the nodes of a network before their own code (node --import): the replica whose name
 * stands in the file gets other results than the rest. The product itself has no such switch.
 */
import { readFileSync } from "node:fs";
import { isMainThread } from "node:worker_threads";

/** Says where the file is. Names that begin with QUORATE_ do not reach the nodes. */
const FILE_VARIABLE = "DIVERGING_REPLICA_FILE";

/** What `quorate up` is to be started with. */
export function divergingEnvironment(file: string): Readonly<Record<string, string>> {
  return { NODE_OPTIONS: `--import=${import.meta.url}`, [FILE_VARIABLE]: file };
}

if (isMainThread && process.argv[2] === "replica") {
  const { ExecutionFeed } = await import("../../../src/replica/execution/execution-feed.ts");
  const file = process.env[FILE_VARIABLE] ?? "";
  // eslint-disable-next-line @typescript-eslint/unbound-method -- called with its own `this` below
  const { onExecuted } = ExecutionFeed.prototype;
  ExecutionFeed.prototype.onExecuted = function onExecutedWrongly(executed) {
    const result = Uint8Array.from(executed.result);
    if (isNamed(file)) result[0] = (result[0] ?? 0) ^ 1;
    onExecuted.call(this, { ...executed, result });
  };
}

function isNamed(file: string): boolean {
  const own = process.argv[process.argv.indexOf("--config") + 1] ?? "";
  try {
    return own.endsWith(`/${readFileSync(file, "utf8")}.json`);
  } catch {
    return false;
  }
}
