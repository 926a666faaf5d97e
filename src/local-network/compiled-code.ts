/** Compiled code that is kept between starts. bin/quorate.js chooses the place. */
import { existsSync, writeFileSync } from "node:fs";
import path from "node:path";

/** Undefined where the program was not started by bin/quorate.js: nothing is kept then. */
export const COMPILED_CODE = process.env["NODE_COMPILE_CACHE"];

/** The existence of the directory is no sign: this process has already begun to fill it. */
const MARK =
  COMPILED_CODE === undefined ? undefined : path.join(COMPILED_CODE, `nodes-${process.version}`);

/** Whether nodes have run before and left their compiled code. */
export function hasCompiledCode(): boolean {
  return MARK !== undefined && existsSync(MARK);
}

export function markCompiledCode(): void {
  if (MARK === undefined) return;
  try {
    writeFileSync(MARK, "");
  } catch {
    // An installation that cannot be written to starts a little slower each time.
  }
}
