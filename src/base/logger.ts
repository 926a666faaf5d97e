export const LOG_LEVELS = ["debug", "info", "warn", "error"] as const;

export type LogFields = Readonly<Record<string, string | number | boolean | undefined>>;

/** Fixed messages, data as fields. Events that peers can cause at will are logged at `debug`. */
export type Logger = {
  /** Checked before fields are gathered for `debug`, so that other levels do not pay for them. */
  isDebug?(): boolean;
  debug(message: string, fields?: LogFields): void;
  info(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  error(message: string, fields?: LogFields): void;
};
