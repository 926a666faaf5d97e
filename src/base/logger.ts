export type LogFields = Readonly<Record<string, string | number | boolean | undefined>>;

/** Fixed messages, data as fields. What peers can cause at will goes to `debug`. */
export type Logger = {
  debug(message: string, fields?: LogFields): void;
  info(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  error(message: string, fields?: LogFields): void;
};
