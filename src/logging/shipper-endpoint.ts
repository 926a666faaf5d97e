/** Where log lines are sent (SPEC P8-P10). */
import { CodedError } from "../base/coded-error.ts";

export type ShipperEndpoint = {
  /** `endpoint_1`; names its place in the spool and its metrics. */
  readonly name: string;
  readonly url: string;
  readonly username: string | undefined;
  readonly password: string | undefined;
};

/** Of the pipeline's input, whatever the scheme (SPEC P8). */
const DEFAULT_PORT = "8080";

/**
 * The address to post to. `http://host:80` names a port although a parsed URL does not show it: the
 * text decides. Throws LOG_ENDPOINT_INVALID, without the text, which may hold a password.
 */
export function endpointUrl({ name, url }: Pick<ShipperEndpoint, "name" | "url">): URL {
  const parsed = URL.parse(url);
  const isHttp = parsed?.protocol === "http:" || parsed?.protocol === "https:";
  if (parsed === null || !isHttp || parsed.username !== "" || parsed.password !== "") {
    throw new CodedError("LOG_ENDPOINT_INVALID", { name });
  }
  const hasPort = /^https?:\/\/(?:\[[^\]]*\]|[^/?#:]*):\d+/i.test(url.trim());
  if (!hasPort) parsed.port = DEFAULT_PORT;
  return parsed;
}

/** The port in full: what a parsed URL leaves out is the scheme's own. */
export function endpointPort(url: URL): number {
  if (url.port !== "") return Number(url.port);
  return url.protocol === "https:" ? 443 : 80;
}
