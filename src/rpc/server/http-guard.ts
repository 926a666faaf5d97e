/** Which web pages may use the port. Programs that are no browser can claim anything here. */
import { isIP } from "node:net";

const LOCAL_NAMES: ReadonlySet<string> = new Set(["localhost", "127.0.0.1", "[::1]"]);

/**
 * Whether the Host header names this machine by an address or by an allowed name. A page whose own
 * name was pointed at this machine (DNS rebinding) comes with that name, and is refused.
 */
export function isAllowedHost(header: string | undefined, allowed: readonly string[]): boolean {
  if (allowed.includes("*")) return true;
  const name = hostName(header ?? "");
  if (name === undefined) return false;
  return isIP(name.replace(/^\[|\]$/g, "")) !== 0 || allowed.includes(name);
}

/** Whether a page of that origin may read answers: pages of this machine, and those configured. */
export function isAllowedOrigin(origin: string, allowed: readonly string[]): boolean {
  if (allowed.includes("*") || allowed.includes(origin)) return true;
  if (!/^https?:\/\//.test(origin)) return false;
  const url = URL.parse(origin);
  return url !== null && LOCAL_NAMES.has(url.hostname);
}

/** The headers that let a browser's page have the answer. */
export function corsHeaders(
  origin: string | undefined,
  allowed: readonly string[],
): Readonly<Record<string, string>> {
  if (origin === undefined || !isAllowedOrigin(origin, allowed)) return { vary: "Origin" };
  return { vary: "Origin", "access-control-allow-origin": origin };
}

export const PREFLIGHT_HEADERS: Readonly<Record<string, string>> = {
  "access-control-allow-methods": "POST, GET, HEAD, OPTIONS",
  "access-control-allow-headers": "content-type, accept, authorization",
  "access-control-max-age": "600",
};

/** Without the port, in lower case. */
function hostName(header: string): string | undefined {
  const match = /^(\[[0-9a-fA-F:.]+\]|[^:[\]\s]+)(?::\d+)?$/.exec(header);
  return match?.[1]?.toLowerCase();
}
