import { pino } from "pino";
import type { Logger } from "../base/logger.ts";
import { formatLogtime, type LogLevel, type LogOrigin } from "./log-entry.ts";
import type { LogThreshold } from "./log-threshold.ts";
import type { LogWriter } from "./log-writer.ts";

export type LoggerOptions = { readonly level: LogLevel; readonly origin: LogOrigin };

export type LoggerDependencies = {
  readonly writer: Pick<LogWriter, "write">;
  readonly now?: () => Date;
  /** Changes the level later. */
  readonly threshold?: LogThreshold;
};

/** Fields of these names must not be logged; if one is, its value is blanked. */
const SECRET_NAMES = [
  ...["seed", "key", "privateKey", "privateKeyPem", "mnemonic"],
  ...["password", "secret", "token", "authorization"],
];

/** Loggers of the parts of one service, by name. */
export function createLoggers(
  { level, origin }: LoggerOptions,
  { writer, now = () => new Date(), threshold }: LoggerDependencies,
): (part: string) => Logger {
  const root = pino(
    {
      level,
      messageKey: "message",
      base: {
        blockchain_id: origin.blockchainId,
        service_name: origin.serviceName,
        node_id: origin.nodeId,
      },
      timestamp: () => `,"logtime":"${formatLogtime(now())}"`,
      formatters: { level: (label) => ({ level: label }) },
      redact: { paths: SECRET_NAMES, censor: "[secret]" },
    },
    writer,
  );
  return (part) => {
    const child = root.child({ logger: part });
    threshold?.follow((changed) => (child.level = changed));
    return {
      isDebug: () => child.isLevelEnabled("debug"),
      debug: (message, fields = {}) => child.debug(fields, message),
      info: (message, fields = {}) => child.info(fields, message),
      warn: (message, fields = {}) => child.warn(fields, message),
      error: (message, fields = {}) => child.error(fields, message),
    };
  };
}
