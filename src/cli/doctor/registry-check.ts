/** Whether a registry accepts the given user (the Docker registry protocol, version 2). */
import { bad, doubtful, good, unknown, type Finding } from "./finding.ts";

export type HttpAnswer = {
  readonly status: number;
  readonly challenge: string | undefined;
  readonly dateMs: number | undefined;
  /** The token of a token service; undefined in every other answer. */
  readonly token?: string | undefined;
  /** Of an image's manifest. */
  readonly digest?: string | undefined;
};

export type HttpGet = (
  url: string,
  authorization: string | undefined,
) => Promise<HttpAnswer | undefined>;

export type RegistryAccess = {
  readonly registry: string;
  readonly username: string | undefined;
  readonly password: string | undefined;
};

export type RegistryResult = {
  readonly finding: Finding;
  readonly dateMs: number | undefined;
};

const NOT_ALLOWED: ReadonlySet<number> = new Set([401, 403]);

export async function checkRegistry(
  { registry, username, password }: RegistryAccess,
  get: HttpGet,
): Promise<RegistryResult> {
  const { host, base } = registryUrl(registry);
  const subject = `registry ${host}`;
  const basic = basicAuthorization({ registry, username, password });
  const first = await get(base, undefined);
  if (first === undefined) {
    const advice = "check the name, the network and the proxy of this machine";
    return { finding: bad(subject, "does not answer", advice), dateMs: undefined };
  }
  const { dateMs } = first;
  if (basic === undefined) {
    const advice = "give --registry-username, and the password in QUORATE_REGISTRY_PASSWORD";
    return { finding: unknown(subject, "answers; credentials not given", advice), dateMs };
  }
  const url = tokenUrl(first.challenge) ?? base;
  const answer = await get(url, basic);
  return { finding: judge(subject, answer), dateMs };
}

/** Where a registry answers, however its name is written. */
export function registryUrl(registry: string): { readonly host: string; readonly base: string } {
  const host = registry.replace(/^https?:\/\//, "").replace(/\/.*$/, "");
  const scheme = registry.startsWith("http://") ? "http" : "https";
  return { host, base: `${scheme}://${host}/v2/` };
}

export function basicAuthorization({ username, password }: RegistryAccess): string | undefined {
  if (username === undefined || password === undefined) return undefined;
  return `Basic ${Buffer.from(`${username}:${password}`).toString("base64")}`;
}

function judge(subject: string, answer: HttpAnswer | undefined): Finding {
  if (answer === undefined) {
    return bad(subject, "its token service does not answer", "check the network of this machine");
  }
  if (answer.status === 200) return good(subject, "lets this user in");
  if (NOT_ALLOWED.has(answer.status)) {
    return bad(subject, `refuses this user (${answer.status})`, "check user name and password");
  }
  return doubtful(subject, `answers with ${answer.status}`, "check that it is a registry");
}

/** `Bearer realm="https://auth.example/token",service="registry.example"` names who gives tokens. */
export function tokenUrl(challenge: string | undefined): string | undefined {
  if (challenge === undefined || !/^bearer /i.test(challenge)) return undefined;
  const field = (name: string): string | undefined =>
    new RegExp(`${name}="([^"]*)"`).exec(challenge)?.[1];
  const realm = field("realm");
  if (realm === undefined || !URL.canParse(realm)) return undefined;
  const url = new URL(realm);
  const service = field("service");
  if (service !== undefined) url.searchParams.set("service", service);
  const scope = field("scope");
  if (scope !== undefined) url.searchParams.set("scope", scope);
  return url.href;
}
