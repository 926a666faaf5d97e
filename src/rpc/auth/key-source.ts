/**
 * The keys of an operator's token issuer: a shared secret, or public keys in a JWKS file or behind
 * a URL. Files and URLs are read again when a token names a key that is not known, and at
 * intervals, so that keys can be rotated while the node runs. A secret has no name: it is read
 * again whenever some time has passed.
 */
import {
  createLocalJWKSet,
  createRemoteJWKSet,
  errors,
  type JSONWebKeySet,
  type JWTVerifyGetKey,
} from "jose";
import { readFile } from "node:fs/promises";
import { CodedError } from "../../base/coded-error.ts";
import { isObject } from "../params/parameters.ts";
import { SECRET_SIZE_MIN } from "./sign-in.ts";

export type KeySourceOptions =
  | {
      readonly kind: "secret";
      readonly secret: Uint8Array;
      /** The secret as it is now; undefined if it cannot be had. Without it, it never changes. */
      readonly reread?: () => Uint8Array | undefined;
    }
  | { readonly kind: "file"; readonly path: string }
  | { readonly kind: "url"; readonly url: string };

/** Keys, and the algorithms they may be used with. */
export type KeySource = {
  readonly algorithms: readonly string[];
  readonly key: Uint8Array | JWTVerifyGetKey;
};

export type RotationTimes = {
  /** A set is read again after this time. */
  readonly maxAgeMs: number;
  /** The least time between two readings, whatever tokens ask for. */
  readonly cooldownMs: number;
  readonly timeoutMs: number;
};

export const DEFAULT_ROTATION_TIMES: RotationTimes = {
  maxAgeMs: 10 * 60 * 1_000,
  cooldownMs: 30_000,
  timeoutMs: 5_000,
};

/** Kept apart: a public key must never serve as a secret (algorithm confusion). */
const SECRET_ALGORITHMS = ["HS256"];
const PUBLIC_KEY_ALGORITHMS = ["RS256", "ES256"];
const LOCAL_HOSTS: ReadonlySet<string> = new Set(["localhost", "127.0.0.1", "[::1]"]);

/** Throws AUTH_SECRET_TOO_SHORT, AUTH_JWKS_FILE_INVALID, AUTH_JWKS_URL_INVALID. */
export async function openKeySource(
  options: KeySourceOptions,
  times: RotationTimes,
  now: () => number,
): Promise<KeySource> {
  switch (options.kind) {
    case "secret": {
      const { secret } = options;
      if (secret.length < SECRET_SIZE_MIN) {
        throw new CodedError("AUTH_SECRET_TOO_SHORT", { bytesMin: SECRET_SIZE_MIN });
      }
      const { reread } = options;
      const key = reread === undefined ? secret : rotatingSecret(secret, reread, times, now);
      return { algorithms: SECRET_ALGORITHMS, key };
    }
    case "file": {
      const keys = new FileKeys(options.path, times, now);
      await keys.open();
      return { algorithms: PUBLIC_KEY_ALGORITHMS, key: keys.find };
    }
    case "url": {
      const key = createRemoteJWKSet(parseUrl(options.url), {
        cacheMaxAge: times.maxAgeMs,
        cooldownDuration: times.cooldownMs,
        timeoutDuration: times.timeoutMs,
      });
      return { algorithms: PUBLIC_KEY_ALGORITHMS, key };
    }
  }
}

/** One that cannot be had, or is too short, leaves the one before in use. */
function rotatingSecret(
  first: Uint8Array,
  reread: () => Uint8Array | undefined,
  { cooldownMs }: RotationTimes,
  now: () => number,
): JWTVerifyGetKey {
  let secret = first;
  let readMs = now();
  return () => {
    if (now() - readMs >= cooldownMs) {
      readMs = now();
      const found = reread();
      if (found !== undefined && found.length >= SECRET_SIZE_MIN) secret = found;
    }
    return secret;
  };
}

/** Keys over plain HTTP from another host could come from an attacker. */
function parseUrl(text: string): URL {
  const url = URL.parse(text);
  const isSafe =
    url?.protocol === "https:" || (url?.protocol === "http:" && LOCAL_HOSTS.has(url.hostname));
  if (url === null || !isSafe) throw new CodedError("AUTH_JWKS_URL_INVALID", { url: text });
  return url;
}

class FileKeys {
  readonly #path: string;
  readonly #times: RotationTimes;
  readonly #now: () => number;
  #set: JWTVerifyGetKey | undefined;
  #readMs = 0;
  #reading: Promise<void> | undefined;

  constructor(path: string, times: RotationTimes, now: () => number) {
    this.#path = path;
    this.#times = times;
    this.#now = now;
  }

  async open(): Promise<void> {
    this.#readMs = this.#now();
    this.#set = await readKeySet(this.#path);
  }

  readonly find: JWTVerifyGetKey = async (header, token) => {
    if (this.#age() > this.#times.maxAgeMs) await this.#refresh();
    try {
      return await this.#findNow(header, token);
    } catch (error) {
      if (!(error instanceof errors.JWKSNoMatchingKey)) throw error;
      if (this.#age() < this.#times.cooldownMs) throw error;
      await this.#refresh();
      return await this.#findNow(header, token);
    }
  };

  #findNow(...[header, token]: Parameters<JWTVerifyGetKey>): ReturnType<JWTVerifyGetKey> {
    if (this.#set === undefined) throw new errors.JWKSNoMatchingKey();
    return this.#set(header, token);
  }

  #age(): number {
    return this.#now() - this.#readMs;
  }

  /** One reading at a time. A file that is being replaced leaves the keys as they were. */
  async #refresh(): Promise<void> {
    this.#reading ??= this.#read().finally(() => (this.#reading = undefined));
    await this.#reading;
  }

  async #read(): Promise<void> {
    this.#readMs = this.#now();
    try {
      this.#set = await readKeySet(this.#path);
    } catch (error) {
      if (!(error instanceof CodedError)) throw error;
    }
  }
}

async function readKeySet(path: string): Promise<JWTVerifyGetKey> {
  try {
    const value: unknown = JSON.parse(await readFile(path, "utf8"));
    if (!isKeySet(value)) throw new TypeError("no keys");
    return createLocalJWKSet(value);
  } catch (error) {
    throw new CodedError("AUTH_JWKS_FILE_INVALID", { path }, error);
  }
}

function isKeySet(value: unknown): value is JSONWebKeySet {
  if (!isObject(value)) return false;
  const { keys } = value as { readonly keys?: unknown };
  return Array.isArray(keys) && keys.length > 0 && keys.every((key) => isObject(key));
}
