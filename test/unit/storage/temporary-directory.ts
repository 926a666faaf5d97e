import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import type { TestContext } from "node:test";

/** A directory on the real disk that goes with the test. */
export function temporaryDirectory(test: TestContext): string {
  const directory = mkdtempSync(path.join(tmpdir(), "quorate-storage-"));
  test.after(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}
