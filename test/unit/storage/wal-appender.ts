/** A process that appends to a log for ever and prints on stdout what is durable. */
import { writeSync } from "node:fs";
import { Prng } from "../../../src/base/prng.ts";
import { CodedError } from "../../../src/base/coded-error.ts";
import { Wal } from "../../../src/storage/wal.ts";

export const WAL_APPENDER = import.meta.filename;

/** What the record with this lsn holds: its lsn, and bytes that follow from it. */
export function walBody(lsn: number): Uint8Array {
  const prng = new Prng(lsn);
  const filler = prng.bytes(prng.below(lsn % 17 === 0 ? 20_000 : 300));
  return Buffer.concat([Buffer.from(`${lsn}:`), filler]);
}

export type AppenderArguments = {
  readonly directory: string;
  readonly seed: number;
  readonly segmentSize: number;
};

async function appendForEver({ directory, seed, segmentSize }: AppenderArguments): Promise<void> {
  const prng = new Prng(seed);
  const { wal, records } = await Wal.open(directory, { repair: "none", segmentSize });
  if (records.length > 0) await rotate(wal);
  report("open", wal.durableLsn);
  for (;;) {
    const syncs: Promise<void>[] = [];
    for (let burst = prng.between(1, 4); burst > 0; burst--) {
      for (let count = prng.between(1, 5); count > 0; count--) wal.append(walBody(wal.lastLsn + 1));
      syncs.push(wal.sync().then((lsn) => report("synced", lsn)));
      if (prng.chance(0.5)) await Promise.resolve();
    }
    await Promise.all(syncs);
    if (wal.fill > 0.8) await rotate(wal);
  }
}

async function rotate(wal: Wal): Promise<void> {
  const lsn = await wal.startSegment(walBody(wal.lastLsn + 1));
  await wal.dropBefore(wal.segmentId);
  report("synced", lsn);
}

function report(what: string, value: number | string): void {
  writeSync(1, `${what} ${value}\n`);
}

if (import.meta.main) {
  const [directory = "", seed, segmentSize] = process.argv.slice(2);
  try {
    await appendForEver({ directory, seed: Number(seed), segmentSize: Number(segmentSize) });
  } catch (error) {
    report("failed", error instanceof CodedError ? error.code : String(error));
  }
}
