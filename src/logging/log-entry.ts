/** What every log line carries (SPEC L4), whatever writes or reads it. */
import type { LOG_LEVELS } from "../base/logger.ts";
export type LogLevel = (typeof LOG_LEVELS)[number];

/** The fields that are there in every entry, in this order. */
export type LogOrigin = {
  readonly blockchainId: string;
  /** `replica-0`, `client-0-clientservice`, `client-0-ethrpc`. */
  readonly serviceName: string;
  /** `replica-0`, `client-0`. */
  readonly nodeId: string;
};

/** `yyyy-MM-dd'T'HH:mm:ss','SSS','Z` (SPEC L3), in UTC. */
export function formatLogtime(date: Date): string {
  const iso = date.toISOString();
  return `${iso.slice(0, 19)},${iso.slice(20, 23)},+0000`;
}
