/** What became of one official case. */
export type Outcome = {
  /** The folder of the case's file, relative to the data. */
  readonly folder: string;
  readonly name: string;
  readonly kind: "passed" | "failed" | "inapplicable";
  /** Why it failed, or why it cannot apply. */
  readonly detail: string;
};

export type Verdict = Pick<Outcome, "kind" | "detail">;

export const PASSED: Verdict = { kind: "passed", detail: "" };

export function failed(detail: string): Verdict {
  return { kind: "failed", detail };
}

export function inapplicable(detail: string): Verdict {
  return { kind: "inapplicable", detail };
}
