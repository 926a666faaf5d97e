/** Compiled code that is kept between starts. bin/quorate.js names the same place. */
import { existsSync, writeFileSync } from "node:fs";
import path from "node:path";

export const COMPILED_CODE = path.join(
  import.meta.dirname,
  ...["..", "..", "node_modules", ".cache", "quorate"],
);

/** The directory alone says nothing: the program itself has begun to fill it by now. */
const MARK = path.join(COMPILED_CODE, `nodes-${process.version}`);

/** Whether nodes have run before and left their compiled code. */
export function hasCompiledCode(): boolean {
  return existsSync(MARK);
}

export function markCompiledCode(): void {
  try {
    writeFileSync(MARK, "");
  } catch {
    // An installation that cannot be written to starts a little slower each time.
  }
}
