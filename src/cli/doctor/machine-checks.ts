/** What this machine must offer to a network that `quorate up` starts. Pure. */
import { bad, doubtful, good, type Finding } from "./finding.ts";
import { bytesText } from "./quantity.ts";

export type MachineFacts = {
  readonly platform: string;
  readonly cpuCount: number;
  readonly freeMemory: number;
  readonly freeDisk: number;
  /** Why the data directory cannot be used, where it cannot. */
  readonly dataProblem: string | undefined;
  readonly isNativeSecp256k1: boolean;
  readonly takenPorts: readonly number[];
  readonly nowMs: number;
  /** What another clock said, where one could be asked. */
  readonly otherClockMs: number | undefined;
};

const MEMORY_MIN = 1.5 * 2 ** 30;
const DISK_MIN = 2 * 2 ** 30;
const DISK_BAD = 0.3 * 2 ** 30;
const CLOCK_DIFFERENCE_MAX_MS = 5_000;
/** The default genesis: a clock before it is not set. */
const TIME_MIN_MS = Date.UTC(2022, 11, 2, 0, 1, 0);

export function checkMachine(facts: MachineFacts): readonly Finding[] {
  return [
    checkPlatform(facts.platform),
    facts.cpuCount >= 2
      ? good("cores", String(facts.cpuCount))
      : doubtful("cores", String(facts.cpuCount), "five processes share it: expect slow answers"),
    checkMemory(facts.freeMemory),
    checkDisk(facts.freeDisk),
    facts.dataProblem === undefined
      ? good("data directory", "on a local disk")
      : bad("data directory", facts.dataProblem, "give a directory on a local disk by --data"),
    facts.isNativeSecp256k1
      ? good("fast signatures", "native")
      : doubtful("fast signatures", "the slow fallback", 'run "npm rebuild secp256k1"'),
    checkPorts(facts.takenPorts),
  ];
}

export function checkClock({ nowMs, otherClockMs }: MachineFacts): Finding {
  const subject = "clock";
  const advice = "let the machine set its clock by NTP";
  if (nowMs < TIME_MIN_MS) return bad(subject, new Date(nowMs).toISOString(), advice);
  if (otherClockMs === undefined) return good(subject, new Date(nowMs).toISOString());
  const difference = Math.abs(nowMs - otherClockMs);
  const found = `${(difference / 1000).toFixed(1)} s from the registry's`;
  return difference <= CLOCK_DIFFERENCE_MAX_MS
    ? good(subject, found)
    : doubtful(subject, found, advice);
}

function checkPlatform(platform: string): Finding {
  const known = ["linux-x64", "linux-arm64", "darwin-x64", "darwin-arm64"];
  if (known.includes(platform)) return good("platform", platform);
  return bad("platform", platform, `use one of ${known.join(", ")} (WSL 2 on Windows)`);
}

function checkMemory(free: number): Finding {
  if (free >= MEMORY_MIN) return good("free memory", bytesText(free));
  return doubtful("free memory", bytesText(free), `close programs until ${bytesText(MEMORY_MIN)}`);
}

function checkDisk(free: number): Finding {
  if (free >= DISK_MIN) return good("free disk", bytesText(free));
  const advice = `free some until ${bytesText(DISK_MIN)}, or give another --data`;
  return (free < DISK_BAD ? bad : doubtful)("free disk", bytesText(free), advice);
}

function checkPorts(taken: readonly number[]): Finding {
  if (taken.length === 0) return good("port of ethrpc", "free");
  const found = `${taken.join(", ")} taken by another program`;
  return bad("port of ethrpc", found, 'end that program, or run "quorate up --port OTHER"');
}
