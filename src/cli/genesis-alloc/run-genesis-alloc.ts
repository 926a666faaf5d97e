/** `quorate genesis alloc`: a dump of another chain's state becomes a file for a genesis. */
import { existsSync } from "node:fs";
import path from "node:path";
import { CodedError } from "../../base/coded-error.ts";
import { problemText } from "../../config/config-problem.ts";
import { usageError, type Arguments } from "../command.ts";
import { readText } from "../../node/load-config.ts";
import { shownPath } from "../../node/shown-path.ts";
import { writeFileAtomically } from "../../storage/atomic-file.ts";
import type { Terminal } from "../terminal.ts";
import { encodeAllocFile } from "../../local-network/alloc-file.ts";
import { dumpToAlloc, type CarriedState } from "./dump-to-alloc.ts";

/** A Secret and a ConfigMap hold 1 MiB each; the network file is a little longer than this one. */
const CHART_BYTES_MAX = 900_000;

export function runGenesisAlloc({ texts }: Arguments, terminal: Terminal): number {
  const { dump, out } = texts;
  if (dump === undefined || out === undefined) {
    throw usageError("genesis alloc needs --dump and --out", "genesis");
  }
  if (existsSync(out)) throw new CodedError("FILE_EXISTS", { path: shownPath(out) });
  const carried = dumpToAlloc(readText(dump));
  if (!carried.ok) {
    const problems = carried.error.map(problemText).join("; ");
    throw new CodedError("CONFIG_INVALID", { path: shownPath(dump), problems });
  }
  const text = encodeAllocFile(carried.value.accounts);
  writeFileAtomically(path.resolve(out), text);
  for (const line of summaryOf(carried.value)) terminal.result(line);
  if (text.length > CHART_BYTES_MAX) {
    terminal.note(
      `${shownPath(out)} has ${text.length} bytes, and the chart takes ${CHART_BYTES_MAX}: ` +
        "Kubernetes keeps it in a Secret. Leave accounts out, or use it with quorate up.",
    );
  }
  return 0;
}

function summaryOf({ accounts, leftOut }: CarriedState): readonly string[] {
  const contracts = accounts.filter(({ carried }) => (carried?.code.length ?? 0) > 0);
  const slots = contracts.reduce((sum, { carried }) => sum + (carried?.storage.length ?? 0), 0);
  return [
    `${accounts.length} accounts, of which ${contracts.length} contracts with ${slots} storage slots`,
    ...[...Map.groupBy(leftOut, ({ reason }) => reason)].map(
      ([reason, ones]) => `left out: ${ones.map(({ address }) => address).join(", ")}: ${reason}`,
    ),
  ];
}
