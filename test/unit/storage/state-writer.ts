/** A process that writes blocks of state for ever and says on stdout which height is written. */
import { writeSync } from "node:fs";
import { StateStore } from "../../../src/storage/state-store.ts";

export const STATE_WRITER = import.meta.filename;
export const KEYS_PER_BLOCK = 200;

/** Every block sets the same keys to its height, so that two blocks mixed are seen. */
export function stateKey(index: number): Uint8Array {
  const key = Buffer.alloc(20);
  key.writeUInt32BE(Math.imul(index, 0x9e3779b1) >>> 0, 0);
  key.writeUInt32BE(index, 4);
  return key;
}

async function writeForEver(directory: string): Promise<void> {
  const store = await StateStore.open(directory, { freeBytesMin: 0 });
  for (let height = (store.height ?? 0) + 1; ; height++) {
    const value = Buffer.from(`height ${height} `.padEnd(100, "."));
    const changes = [];
    for (let index = 0; index < KEYS_PER_BLOCK; index++) {
      changes.push({ key: stateKey(index), value });
    }
    store.write(changes, height);
    writeSync(1, `synced ${height}\n`);
  }
}

if (import.meta.main) await writeForEver(process.argv[2] ?? "");
