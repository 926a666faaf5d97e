/** Where log lines are sent (SPEC P8-P10) and how the embedded log stack is run (SPEC L8). */
import {
  hostSetting,
  integerSetting,
  listSetting,
  optional,
  pathSetting,
  portSetting,
  type Setting,
  type SettingValues,
  textSetting,
} from "./setting.ts";

type EndpointPart = "url" | "username" | "password";

export type LogEndpointSettings = Readonly<
  Record<`log.endpoint_${number}.${EndpointPart}`, Setting<string | undefined>>
>;

export type LogEndpointConfig = SettingValues<LogEndpointSettings>;

export type LogEndpoint = {
  readonly name: string;
  readonly url: string;
  readonly username: string | undefined;
  readonly password: string | undefined;
};

const ENDPOINTS_MAX = 9;
const NUMBERS = Array.from({ length: ENDPOINTS_MAX }, (_, index) => index + 1);

/** Only the first address is a flag: passwords would show in the list of processes. */
export function createLogEndpointSettings(): LogEndpointSettings {
  const entries = NUMBERS.flatMap((number) => {
    const name = `log.endpoint_${number}`;
    const summary = "send log lines here (http://host; port 8080 if it names none)";
    const url = optional(textSetting({ summary }));
    const secret = { ...optional(textSetting({ summary: "HTTP basic auth" })), hasFlag: false };
    return [
      [`${name}.url`, number === 1 ? url : { ...url, hasFlag: false }],
      [`${name}.username`, secret],
      [`${name}.password`, secret],
    ];
  });
  return Object.fromEntries(entries) as LogEndpointSettings;
}

export function logEndpointsOf(config: LogEndpointConfig): readonly LogEndpoint[] {
  return NUMBERS.flatMap((number) => {
    const url = config[`log.endpoint_${number}.url`];
    if (url === undefined) return [];
    const username = config[`log.endpoint_${number}.username`];
    const password = config[`log.endpoint_${number}.password`];
    return [{ name: `endpoint_${number}`, url, username, password }];
  });
}

const MEBIBYTE = 1024 * 1024;
const DAY_MS = 24 * 3_600_000;

export const DEFAULT_LOG_STACK_PORTS = { inputPort: 8080, searchPort: 9200, viewerPort: 5601 };

export const LOG_STACK_SETTINGS = {
  data: pathSetting({ summary: "the directory that the store is kept in" }),
  host: hostSetting({ summary: "where all three servers listen", fallback: "127.0.0.1" }),
  "input.port": portSetting({
    summary: "of the input (POST log lines)",
    fallback: DEFAULT_LOG_STACK_PORTS.inputPort,
  }),
  "search.port": portSetting({
    summary: "of the read endpoint (_search)",
    fallback: DEFAULT_LOG_STACK_PORTS.searchPort,
  }),
  "viewer.port": portSetting({
    summary: "of the viewer (/app/discover)",
    fallback: DEFAULT_LOG_STACK_PORTS.viewerPort,
  }),
  hostNames: listSetting({
    summary: "names in the Host header besides addresses and localhost",
    fallback: [],
  }),
  "input.username": { ...optional(textSetting({ summary: "HTTP basic auth" })), hasFlag: false },
  "input.password": { ...optional(textSetting({ summary: "HTTP basic auth" })), hasFlag: false },
  "retention.mebibytes": integerSetting({
    summary: "the store forgets the oldest entries beyond this size",
    min: 1,
    max: 1_048_576,
    fallback: 512,
  }),
  "retention.days": integerSetting({
    summary: "the store forgets entries that came before so many days",
    min: 1,
    max: 36_500,
    fallback: 7,
  }),
} as const;

export type LogStackConfig = SettingValues<typeof LOG_STACK_SETTINGS>;

export function retentionOf(config: LogStackConfig): {
  readonly sizeMax: number;
  readonly ageMaxMs: number;
} {
  return {
    sizeMax: config["retention.mebibytes"] * MEBIBYTE,
    ageMaxMs: config["retention.days"] * DAY_MS,
  };
}
