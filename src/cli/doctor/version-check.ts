import { bad, good, type Finding } from "./finding.ts";

/** The first version in what a program prints about itself. */
export function versionIn(text: string): string | undefined {
  return /v?(\d+\.\d+(?:\.\d+)?)/.exec(text)?.[1];
}

/** Whether a version is at least another one: `1.9` is below `1.22`. */
export function isAtLeast(version: string, least: string): boolean {
  const [ours, theirs] = [version, least].map((text) => text.split(".").map(Number));
  for (const [at, wanted] of (theirs ?? []).entries()) {
    const part = ours?.[at] ?? 0;
    if (part !== wanted) return part > wanted;
  }
  return true;
}

/** A program by what it printed; undefined where it is not there. */
export function checkVersion(
  subject: string,
  printed: string | undefined,
  least: string,
  advice: string,
): Finding {
  if (printed === undefined) return bad(subject, "not found", advice);
  const version = versionIn(printed);
  if (version === undefined) return bad(subject, "says no version", advice);
  if (isAtLeast(version, least)) return good(subject, version);
  return bad(subject, `${version}, and ${least} is needed`, advice);
}
