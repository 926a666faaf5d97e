/** A process that takes a data directory and keeps it until it is killed. */
import { writeSync } from "node:fs";
import { DataDirectory } from "../../../src/storage/data-directory.ts";

export const LOCK_HOLDER = import.meta.filename;

if (import.meta.main) {
  const directory = DataDirectory.open(process.argv[2] ?? "");
  writeSync(1, `holds ${process.pid}\n`);
  setInterval(() => directory.path, 60_000);
}
