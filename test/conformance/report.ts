/** The table of a conformance run: per folder, then what failed, then what cannot apply and why. */
import type { Outcome } from "./outcome.ts";
import { DRAFT_MARK } from "./state-tests.ts";

const FAILURES_SHOWN = 60;

export function formatReport(outcomes: readonly Outcome[]): string {
  const lines = [row("folder", "passed", "failed", "cannot apply")];
  const folders = [...new Set(outcomes.map(({ folder }) => folder))].sort((a, b) =>
    a < b ? -1 : 1,
  );
  for (const folder of folders) {
    lines.push(
      countRow(
        folder,
        outcomes.filter((outcome) => outcome.folder === folder),
      ),
    );
  }
  lines.push(countRow("all", outcomes));
  const failures = outcomes.filter(({ kind }) => kind === "failed");
  if (failures.length > 0) lines.push("", "failed:");
  for (const { name, detail } of failures.slice(0, FAILURES_SHOWN))
    lines.push(`  ${name}: ${detail}`);
  if (failures.length > FAILURES_SHOWN) {
    lines.push(`  and ${failures.length - FAILURES_SHOWN} more`);
  }
  const drafts = outcomes.filter(({ name }) => name.includes(DRAFT_MARK)).length;
  if (drafts > 0) {
    lines.push("", `${drafts} cases were filled for a draft of Prague and ran under its addresses`);
    lines.push("and prices of the BLS12-381 precompiles (test/conformance/draft-eip-2537.ts)");
  }
  lines.push(...inapplicableLines(outcomes));
  return `${lines.join("\n")}\n`;
}

/** Grouped by reason: a reason is the same sentence for all cases it holds for. */
function inapplicableLines(outcomes: readonly Outcome[]): string[] {
  const byReason = new Map<string, string[]>();
  for (const { kind, name, detail } of outcomes) {
    if (kind !== "inapplicable") continue;
    const names = byReason.get(detail) ?? [];
    names.push(name);
    byReason.set(detail, names);
  }
  if (byReason.size === 0) return [];
  const lines = ["", "cannot apply:"];
  for (const [reason, names] of byReason) {
    lines.push(`  ${names.length}: ${reason} (e.g. ${names[0] ?? ""})`);
  }
  return lines;
}

function countRow(folder: string, outcomes: readonly Outcome[]): string {
  const count = (kind: Outcome["kind"]): string =>
    String(outcomes.filter((outcome) => outcome.kind === kind).length);
  return row(folder, count("passed"), count("failed"), count("inapplicable"));
}

function row(folder: string, passed: string, failed: string, inapplicable: string): string {
  const columns = [passed.padStart(8), failed.padStart(8), inapplicable.padStart(14)];
  return `${folder.padEnd(72)}${columns.join("")}`;
}
