/** A process that logs so many numbers at once and is then killed. Args: url, spool, count. */
import { Shipper } from "../../../src/logging/shipper.ts";

export function runShipperProgram([url = "", spool = "", count = "0"]: readonly string[]): void {
  const endpoint = { name: "endpoint_1", url, username: undefined, password: undefined };
  const shipper = new Shipper({
    endpoints: [endpoint],
    spoolDirectory: spool,
    timing: { retryMinMs: 20, retryMaxMs: 50 },
  });
  for (let number = 0; number < Number(count); number += 1) {
    shipper.write(JSON.stringify({ number }));
  }
  setInterval(() => {
    // Kept by the thread: from here on the lines outlive the process.
    const waiting = shipper.counts.endpoints[0]?.waitingLines ?? 0;
    if (waiting === Number(count)) process.stdout.write("kept\n");
  }, 50);
}

if (process.argv[1] === import.meta.filename) runShipperProgram(process.argv.slice(2));
