/**
 * Secrets through the API server, as the service account of this pod. The two calls that are needed
 * are written here: a client library for all of Kubernetes would be larger than the product.
 */
import { readFileSync } from "node:fs";
import { request } from "node:https";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { CodedError } from "../../base/coded-error.ts";
import { parseJson } from "../../base/parse-json.ts";
import { isRecord } from "../../base/parse-json.ts";
import type { SecretData, SecretStore } from "./secret-store.ts";

export type KubernetesAccess = {
  readonly host: string;
  readonly port: number;
  readonly namespace: string;
  readonly token: string;
  readonly authority: string;
};

type Answer = { readonly status: number; readonly body: unknown };

const SERVICE_ACCOUNT = "/var/run/secrets/kubernetes.io/serviceaccount";
const REQUEST_TIMEOUT_MS = 10_000;
const ATTEMPTS_MAX = 6;
const RETRY_DELAY_MS = 500;
const ANSWER_BYTES_MAX = 4 * 1024 * 1024;

/** What Kubernetes puts into every pod that may talk to it. Throws CLUSTER_ACCESS_MISSING. */
export function loadClusterAccess(
  environment: Readonly<Record<string, string | undefined>>,
  folder = SERVICE_ACCOUNT,
): KubernetesAccess {
  const host = environment["KUBERNETES_SERVICE_HOST"] ?? "";
  const port = Number(environment["KUBERNETES_SERVICE_PORT"] ?? "443");
  if (host === "") {
    const reason = "KUBERNETES_SERVICE_HOST is not set";
    throw new CodedError("CLUSTER_ACCESS_MISSING", { reason });
  }
  const read = (file: string): string => {
    try {
      return readFileSync(path.join(folder, file), "utf8");
    } catch (error) {
      const reason = `${path.join(folder, file)} cannot be read`;
      throw new CodedError("CLUSTER_ACCESS_MISSING", { reason }, error);
    }
  };
  return {
    host,
    port,
    namespace: read("namespace").trim(),
    token: read("token").trim(),
    authority: read("ca.crt"),
  };
}

export function createKubernetesSecrets(
  access: KubernetesAccess,
  labels: Readonly<Record<string, string>>,
): SecretStore {
  const folder = `/api/v1/namespaces/${encodeURIComponent(access.namespace)}/secrets`;
  return {
    async get(name) {
      const { status, body } = await ask(access, "GET", `${folder}/${encodeURIComponent(name)}`);
      if (status === 404) return undefined;
      if (status === 200) return decodeData(body, name);
      throw refused("get", name, status, body);
    },
    async create(name, data) {
      const secret = {
        apiVersion: "v1",
        kind: "Secret",
        metadata: { name, labels },
        type: "Opaque",
        data: encodeData(data),
      };
      const { status, body } = await ask(access, "POST", folder, JSON.stringify(secret));
      if (status === 201) return true;
      if (status === 409) return false;
      throw refused("create", name, status, body);
    },
  };
}

/** Retries after a timeout or a temporary failure: a cluster that starts is busy. */
async function ask(
  access: KubernetesAccess,
  method: "GET" | "POST",
  place: string,
  body?: string,
): Promise<Answer> {
  for (let attempt = 1; ; attempt += 1) {
    const isLast = attempt === ATTEMPTS_MAX;
    try {
      const answer = await askOnce(access, method, place, body);
      if (isLast || (answer.status !== 429 && answer.status < 500)) return answer;
    } catch (error) {
      const { host, port } = access;
      if (isLast) throw new CodedError("CLUSTER_UNREACHABLE", { host, port }, error);
    }
    await sleep(RETRY_DELAY_MS * 2 ** (attempt - 1));
  }
}

function askOnce(
  { host, port, token, authority }: KubernetesAccess,
  method: "GET" | "POST",
  place: string,
  body: string | undefined,
): Promise<Answer> {
  const headers = {
    authorization: `Bearer ${token}`,
    accept: "application/json",
    ...(body !== undefined && { "content-type": "application/json" }),
  };
  const options = { host, port, path: place, method, ca: authority, headers };
  return new Promise((resolve, reject) => {
    const sent = request({ ...options, timeout: REQUEST_TIMEOUT_MS }, (response) => {
      const parts: Buffer[] = [];
      let size = 0;
      response.on("data", (part: Buffer) => {
        size += part.length;
        if (size <= ANSWER_BYTES_MAX) parts.push(part);
        else sent.destroy(new Error("the answer is too long"));
      });
      response.on("error", reject);
      response.on("end", () => {
        const text = Buffer.concat(parts).toString("utf8");
        resolve({ status: response.statusCode ?? 0, body: parseJson(text) });
      });
    });
    sent.on("timeout", () => sent.destroy(new Error("no answer in time")));
    sent.on("error", reject);
    sent.end(body);
  });
}

function decodeData(body: unknown, name: string): SecretData {
  const data = isRecord(body) ? (body["data"] ?? {}) : undefined;
  if (!isRecord(data)) throw new CodedError("CLUSTER_ANSWER_STRANGE", { name });
  return Object.fromEntries(
    Object.entries(data).map(([key, value]) => [
      key,
      Buffer.from(String(value), "base64").toString("utf8"),
    ]),
  );
}

function encodeData(data: SecretData): SecretData {
  return Object.fromEntries(
    Object.entries(data).map(([key, value]) => [key, Buffer.from(value).toString("base64")]),
  );
}

function refused(action: string, name: string, status: number, body: unknown): CodedError {
  const message = isRecord(body) ? String(body["message"]) : "no message";
  return new CodedError("CLUSTER_REFUSED", { action, name, status, message });
}
