/** Who may use ethrpc: TLS, tokens, certificates and roles (SPEC A4, A5; docs/ethrpc.md). */
import { parseJson } from "../base/parse-json.ts";
import { err, ok, type Result } from "../base/result.ts";
import { parseAddress } from "../chain/address.ts";
import { problemText, type ConfigProblem } from "./config-problem.ts";
import { isRecord } from "../base/parse-json.ts";
import { JsonFields } from "./json-fields.ts";
import {
  booleanSetting,
  integerSetting,
  listSetting,
  optional,
  pathSetting,
  type Setting,
  type SettingValues,
  textSetting,
} from "./setting.ts";

export type RoleSetting = {
  readonly name: string;
  readonly methods: readonly string[];
  readonly mayRead: boolean;
};

export type CertificateSetting = {
  readonly subject: string;
  readonly fingerprint: string | undefined;
  readonly commonName: string | undefined;
  readonly alternativeName: string | undefined;
  readonly account: bigint | undefined;
  readonly roles: readonly string[];
};

const DAY_SECONDS = 86_400;

export const RPC_ACCESS_SETTINGS = {
  "rpc.tls.cert": optional(pathSetting({ summary: "serve TLS with this certificate (PEM)" })),
  "rpc.tls.key": optional(pathSetting({ summary: "its private key (PEM)" })),
  "rpc.tls.clientCa": optional(
    pathSetting({ summary: "ask callers for certificates that these authorities signed (PEM)" }),
  ),
  "rpc.tls.isClientCertRequired": booleanSetting({
    summary: "with clientCa: callers without one get no connection",
    fallback: true,
  }),
  "rpc.auth.required": booleanSetting({
    summary: "every request needs a token or a certificate",
    fallback: false,
  }),
  "rpc.auth.issuer": optional(textSetting({ summary: "the iss of tokens that are trusted" })),
  "rpc.auth.audience": listSetting({
    summary: "what their aud must name, one of these",
    fallback: [],
  }),
  "rpc.auth.secretFile": optional(
    pathSetting({ summary: "the issuer's secret, at least 32 bytes (HS256)" }),
  ),
  "rpc.auth.jwksFile": optional(
    pathSetting({ summary: "the issuer's public keys as JWKS (RS256, ES256)" }),
  ),
  "rpc.auth.jwksUrl": optional(textSetting({ summary: "where to fetch them" })),
  "rpc.auth.rolesClaim": textSetting({
    summary: "where a token names its roles",
    fallback: "roles",
  }),
  "rpc.auth.accountClaim": textSetting({
    summary: "where it names the account that the issuer vouches for",
    fallback: "account",
  }),
  "rpc.auth.defaultRoles": listSetting({ summary: "of tokens that name no role", fallback: [] }),
  "rpc.auth.roles": recordsSetting({
    summary: "JSON list of {name, methods, mayRead}",
    read: readRole,
  }),
  "rpc.auth.methods": listSetting({
    summary: "what callers without a role may call",
    fallback: ["*"],
  }),
  "rpc.auth.certificates": recordsSetting({
    summary: "JSON list of {subject, fingerprint, commonName, alternativeName, account, roles}",
    read: readCertificate,
  }),
  "rpc.auth.signIn": optional(
    booleanSetting({
      summary: "let wallets sign in; by default where reads need a right and tokens do not",
    }),
  ),
  "rpc.auth.signInDomains": listSetting({
    summary: "what wallets may sign in to",
    fallback: ["localhost:*", "127.0.0.1:*", "[::1]:*"],
  }),
  "rpc.auth.signInSecretFile": optional(
    pathSetting({ summary: "signs their tokens, so that they outlive a restart" }),
  ),
  "rpc.auth.tokenLifetimeSeconds": integerSetting({
    summary: "of the tokens of wallets",
    fallback: 3_600,
    min: 1,
    max: 30 * DAY_SECONDS,
  }),
} as const;

export type RpcAccessConfig = SettingValues<typeof RPC_ACCESS_SETTINGS>;

/** Whether these settings ask nothing of any caller. */
export function isAccessOpen(config: RpcAccessConfig): boolean {
  const hasRoles = config["rpc.auth.roles"].length > 0;
  return !config["rpc.auth.required"] && !hasRoles && config["rpc.auth.methods"].includes("*");
}

/** Checks across several settings. */
export function accessProblems(config: RpcAccessConfig): readonly ConfigProblem[] {
  const problems: ConfigProblem[] = [];
  const report = (path: string, message: string): void => void problems.push({ path, message });
  if ((config["rpc.tls.cert"] === undefined) !== (config["rpc.tls.key"] === undefined)) {
    report("rpc.tls", "must have both cert and key, or neither");
  }
  const hasClientCa = config["rpc.tls.clientCa"] !== undefined;
  if (hasClientCa && config["rpc.tls.cert"] === undefined) {
    report("rpc.tls.clientCa", "needs rpc.tls.cert and rpc.tls.key");
  }
  const sources = [
    config["rpc.auth.secretFile"],
    config["rpc.auth.jwksFile"],
    config["rpc.auth.jwksUrl"],
  ].filter((source) => source !== undefined);
  if (sources.length > 1) report("rpc.auth", "must have one of secretFile, jwksFile and jwksUrl");
  const hasIssuer = config["rpc.auth.issuer"] !== undefined;
  if (hasIssuer !== sources.length > 0) {
    report("rpc.auth", "must have both issuer and its keys, or neither");
  }
  if (hasIssuer && config["rpc.auth.audience"].length === 0) {
    report("rpc.auth.audience", "is missing: tokens for others would do here, too");
  }
  if (config["rpc.auth.certificates"].length > 0 && !hasClientCa) {
    report("rpc.auth.certificates", "needs rpc.tls.clientCa");
  }
  const canIdentify =
    hasIssuer || config["rpc.auth.certificates"].length > 0 || config["rpc.auth.signIn"] === true;
  if (config["rpc.auth.required"] && !canIdentify) {
    report("rpc.auth.required", "needs an issuer, certificates or signIn");
  }
  return problems;
}

/** A list of records in a file, the same as JSON text elsewhere. */
function recordsSetting<Item>(given: {
  readonly summary: string;
  readonly read: (fields: JsonFields) => Item;
}): Setting<readonly Item[]> {
  return {
    summary: given.summary,
    isPath: false,
    fallback: { value: [] },
    parse: (raw) => parseRecords(raw, given.read),
  };
}

function parseRecords<Item>(
  raw: unknown,
  read: (fields: JsonFields) => Item,
): Result<readonly Item[], string> {
  const values = typeof raw === "string" ? parseJson(raw) : raw;
  if (!Array.isArray(values) || !values.every(isRecord)) return err("a list of records");
  const problems: ConfigProblem[] = [];
  const items = values.map((value, at) => {
    const fields = new JsonFields(value, `[${at}].`, problems);
    const item = read(fields);
    fields.end();
    return item;
  });
  if (problems.length === 0) return ok(items);
  return err(`a list of records (${problems.map(problemText).join("; ")})`);
}

function readRole(fields: JsonFields): RoleSetting {
  return {
    name: fields.text("name"),
    methods: fields.texts("methods"),
    mayRead: fields.has("mayRead") && fields.boolean("mayRead"),
  };
}

function readCertificate(fields: JsonFields): CertificateSetting {
  const textOf = (name: string): string | undefined =>
    fields.has(name) ? fields.text(name) : undefined;
  const [fingerprint, commonName, alternativeName] = [
    textOf("fingerprint"),
    textOf("commonName"),
    textOf("alternativeName"),
  ];
  if ([fingerprint, commonName, alternativeName].every((value) => value === undefined)) {
    fields.report("fingerprint", "is missing (or commonName, or alternativeName)");
  }
  const accountText = textOf("account");
  const account = accountText === undefined ? undefined : parseAddress(accountText);
  if (accountText !== undefined && account === undefined) {
    fields.report("account", "must be an address");
  }
  const roles = fields.has("roles") ? fields.texts("roles") : [];
  const subject = fields.text("subject");
  return { subject, fingerprint, commonName, alternativeName, account, roles };
}
