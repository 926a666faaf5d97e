/** Amounts as Kubernetes writes them: `500m`, `10`, `256Mi`, `1e3`. */
const FACTORS: Readonly<Record<string, number>> = {
  "": 1,
  n: 1e-9,
  u: 1e-6,
  m: 1e-3,
  k: 1e3,
  M: 1e6,
  G: 1e9,
  T: 1e12,
  P: 1e15,
  Ki: 2 ** 10,
  Mi: 2 ** 20,
  Gi: 2 ** 30,
  Ti: 2 ** 40,
  Pi: 2 ** 50,
};

/** Cores or bytes; 0 for what is no amount. */
export function parseResourceQuantity(text: unknown): number {
  const match = /^([0-9.]+(?:e[0-9]+)?)([a-zA-Z]*)$/.exec(String(text));
  const factor = FACTORS[match?.[2] ?? ""];
  return match === null || factor === undefined ? 0 : Number(match[1]) * factor;
}

export function bytesText(bytes: number): string {
  return `${(bytes / 2 ** 30).toFixed(1)} GiB`;
}
