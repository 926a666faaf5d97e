/** A file system of its own under the data of one node, which a test can fill and make room on. */
import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, openSync, closeSync, renameSync, rmSync, writeSync } from "node:fs";
import path from "node:path";

const CHUNK = Buffer.alloc(64 * 1024);

export class SmallDisk {
  readonly #directory: string;

  private constructor(directory: string) {
    this.#directory = directory;
  }

  /** Takes over what is in the directory; the reason where nothing can be mounted here. */
  static mount(directory: string, size: number): SmallDisk | string {
    const aside = `${directory}.before`;
    renameSync(directory, aside);
    mkdirSync(directory);
    const { status, stderr } = spawnSync("mount", [
      ...["-t", "tmpfs", "-o", `size=${size}`, "tmpfs", directory],
    ]);
    if (status !== 0) {
      rmSync(directory, { recursive: true });
      renameSync(aside, directory);
      return `no file system can be mounted: ${String(stderr).trim()}`;
    }
    cpSync(aside, directory, { recursive: true });
    rmSync(aside, { recursive: true });
    return new SmallDisk(directory);
  }

  fill(): void {
    const file = openSync(this.#filler, "w");
    try {
      for (;;) writeSync(file, CHUNK);
    } catch (error) {
      if (!(error instanceof Error) || !error.message.startsWith("ENOSPC")) throw error;
    } finally {
      closeSync(file);
    }
  }

  makeRoom(): void {
    rmSync(this.#filler);
  }

  unmount(): void {
    spawnSync("umount", ["-l", this.#directory]);
  }

  get #filler(): string {
    return path.join(this.#directory, "filler");
  }
}
