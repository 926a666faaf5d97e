export const LOG_LEVELS = ["debug", "info", "warn", "error"] as const;

export type LogFields = Readonly<Record<string, string | number | boolean | undefined>>;

/** Fixed messages, data as fields. What peers can cause at will goes to `debug`. */
export type Logger = {
  /** Asked before fields are gathered for `debug`: at other levels that would be for nothing. */
  isDebug?(): boolean;
  debug(message: string, fields?: LogFields): void;
  info(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  error(message: string, fields?: LogFields): void;
};
