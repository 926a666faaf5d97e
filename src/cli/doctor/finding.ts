/** What `quorate doctor` found out about one thing that a network needs. */
export type Finding = {
  /** What was looked at, for example `storage class standard`. */
  readonly subject: string;
  /** bad: an install would fail. doubtful: it may work. unknown: it could not be looked at. */
  readonly verdict: "good" | "doubtful" | "bad" | "unknown";
  readonly found: string;
  /** How to fix it; present for everything that is not good. */
  readonly advice?: string;
};

export function good(subject: string, found: string): Finding {
  return { subject, verdict: "good", found };
}

export function bad(subject: string, found: string, advice: string): Finding {
  return { subject, verdict: "bad", found, advice };
}

export function doubtful(subject: string, found: string, advice: string): Finding {
  return { subject, verdict: "doubtful", found, advice };
}

export function unknown(subject: string, found: string, advice: string): Finding {
  return { subject, verdict: "unknown", found, advice };
}
