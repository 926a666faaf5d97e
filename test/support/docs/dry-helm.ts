/**
 * helm for the commands of the documentation, where there is no cluster: install and upgrade render
 * the chart, with the values that an upgrade would use again; the others read their flags.
 */
import { CREDENTIALS, runHelm } from "../rendered-chart.ts";

export const DRY_HELM = import.meta.filename;

if (import.meta.main) {
  const { status, stderr } = runHelm("helm-4", helmArguments(process.argv.slice(2)));
  process.stderr.write(stderr);
  process.exitCode = status ?? 1;
}

function helmArguments([command = "", ...args]: readonly string[]): readonly string[] {
  // Charts of others are not here: their flags are read.
  const isOurs = args.some((arg) => arg === "." || arg === "deploy/chart");
  if (!isOurs) return [command, ...args, "--help"];
  if (command === "install") return ["template", ...args];
  const kept = CREDENTIALS.flatMap((setting) => ["--set", setting]);
  const given = args.filter((arg) => arg !== "--reuse-values");
  return ["template", ...given.slice(0, 2), ...kept, ...given.slice(2)];
}
