/**
 * The calls by which log and height mark make durable what they wrote. They are one object, so that
 * a test can count them, delay them and let them fail.
 */
import { fdatasync, fdatasyncSync } from "node:fs";
import { open } from "node:fs/promises";

export type FileSync = {
  /** The file's data, in the thread pool. */
  readonly data: (fd: number, done: (error: Error | null) => void) => void;
  /** The same, waiting for it: only before a node has begun to work. */
  readonly dataAndWait: (fd: number) => void;
  /** A new or renamed file is found after a crash only if its directory was synced, too. */
  readonly directory: (path: string) => Promise<void>;
};

export const FILE_SYNC: FileSync = {
  data: fdatasync,
  dataAndWait: fdatasyncSync,
  directory: syncDirectory,
};

async function syncDirectory(path: string): Promise<void> {
  const handle = await open(path, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
