/** What the operating system says about a disk, as errors with a code that a caller can act on. */
import { CodedError } from "../base/coded-error.ts";

/** No space left, or the quota is used up. Space can come back; other write errors are final. */
export function isDiskFullError(error: unknown): boolean {
  const code = errorCode(error);
  return code === "ENOSPC" || code === "EDQUOT";
}

/** The code of a system error, as `fs` gives it; undefined for anything else. */
export function errorCode(error: unknown): string | undefined {
  if (!(error instanceof Error) || !("code" in error)) return undefined;
  return typeof error.code === "string" ? error.code : undefined;
}

/** DISK_FULL when space is what is missing, otherwise `code`. */
export function writeError(
  code: string,
  data: Readonly<Record<string, unknown>>,
  cause: unknown,
): CodedError {
  return new CodedError(isDiskFullError(cause) ? "DISK_FULL" : code, data, cause);
}
