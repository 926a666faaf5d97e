/** What an answer of `npm audit --json` means for this project. */

export const LEVELS: readonly string[] = ["low", "moderate", "high", "critical"];

type Vulnerability = {
  readonly name: string;
  readonly severity: string;
  readonly range: string;
  readonly via: readonly (string | { readonly title: string; readonly url: string })[];
};
type Answer = { readonly vulnerabilities?: Readonly<Record<string, Vulnerability>> };

export type AuditVerdict = { readonly code: 0 | 1; readonly lines: readonly string[] };

export function auditVerdict(text: string, level: string): AuditVerdict {
  const { vulnerabilities } = parseAnswer(text);
  if (vulnerabilities === undefined) {
    return { code: 0, lines: ["audit skipped: the registry gave no advisories"] };
  }
  const found = Object.values(vulnerabilities);
  const serious = found.filter(({ severity }) => rank(severity) >= rank(level));
  const lines = serious.map(({ name, severity, range, via }) => {
    const causes = via.map((cause) =>
      typeof cause === "string" ? `through ${cause}` : `${cause.title}, ${cause.url}`,
    );
    return `${severity}: ${name} ${range}: ${causes.join("; ")}`;
  });
  const others = found.length - serious.length;
  const summary = `${serious.length} of level ${level} or above, ${others} below`;
  return { code: serious.length > 0 ? 1 : 0, lines: [...lines, summary] };
}

/** A level that npm may add one day counts as the highest. */
function rank(level: string): number {
  const index = level === "info" ? -1 : LEVELS.indexOf(level);
  return index === -1 && level !== "info" ? LEVELS.length : index;
}

/** An error of the registry is an answer without vulnerabilities. */
function parseAnswer(text: string): Answer {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? value : {};
  } catch {
    return {};
  }
}
