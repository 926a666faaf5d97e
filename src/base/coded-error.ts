/**
 * An error of the environment (disk, network, configuration) with a stable code and data. Tests and
 * callers match the code; the text is for people.
 */
export class CodedError extends Error {
  override readonly name = "CodedError";
  readonly code: string;
  readonly data: Readonly<Record<string, unknown>>;

  constructor(code: string, data: Readonly<Record<string, unknown>> = {}, cause?: unknown) {
    super(describe(code, data), cause === undefined ? undefined : { cause });
    this.code = code;
    this.data = data;
  }
}

function describe(code: string, data: Readonly<Record<string, unknown>>): string {
  const fields = Object.entries(data).map(([key, value]) => `${key}=${String(value)}`);
  return fields.length === 0 ? code : `${code} (${fields.join(", ")})`;
}
