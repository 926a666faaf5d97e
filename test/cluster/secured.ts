/** TLS, sign-in and tokens of ethrpc on the cluster, from Secrets as an operator gives them. */
import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { randomBytes } from "node:crypto";
import path from "node:path";
import { SignJWT } from "jose";
import { isRecord } from "../../src/base/parse-json.ts";
import { NODE_ADDRESS, RUN } from "./machine.ts";
import { kubectl, Release, type Credentials } from "./release.ts";
import { run, waitFor } from "./shell.ts";
import type { StepTable } from "./step-table.ts";

const ISSUER = "https://login.example";
const NOT_SIGNED = -32_602;
const METHOD_UNKNOWN_OR_DENIED = [-32_601, -32_060];

export async function runSecured(table: StepTable, credentials: Credentials): Promise<void> {
  const release = new Release("secured", "secured", "helm-4", credentials);
  const folder = path.join(RUN, "secured");
  const secret = randomBytes(32).toString("hex");
  kubectl(["create", "namespace", release.namespace]);
  try {
    await table.step("ethrpc with TLS and sign-in from Secrets", () =>
      installSecured(release, folder, secret),
    );
    await table.step("sign-in under the service's name (helm test)", () => {
      assert.match(release.helm(["test", release.name]), /Phase:\s+Succeeded/);
      return "as the admin, over TLS, reads and writes permissioned";
    });
    await table.step("tokens of an issuer, from a Secret", () =>
      requireTokens(release, folder, secret),
    );
    await table.step("an open load balancer: no traces", () => openBalancer(release, folder));
  } finally {
    release.helm(["uninstall", release.name, "--ignore-not-found"]);
    kubectl(["delete", "namespace", release.namespace, "--wait=true"]);
  }
}

const TLS = [
  "rpc.tls.existingSecret=ethrpc-tls",
  "rpc.auth.existingSecret=ethrpc-auth",
  "rpc.auth.signInSecretFile=sign-in",
  "global.ethPermissioningReadEnabled=true",
  "global.ethPermissioningWriteEnabled=true",
].flatMap((setting) => ["--set", setting]);

async function installSecured(release: Release, folder: string, secret: string): Promise<string> {
  makeCertificates(folder);
  const files = ["tls.crt", "tls.key", "ca.crt"].map(
    (name) => `--from-file=${path.join(folder, name)}`,
  );
  release.kubectl("create", "secret", "generic", "ethrpc-tls", ...files);
  const literals = [`--from-literal=sign-in=${secret}`, `--from-literal=issuer=${secret}`];
  release.kubectl("create", "secret", "generic", "ethrpc-auth", ...literals);
  release.install(...TLS);
  await release.waitUntilReady();
  const { code } = await call(release, folder, "eth_blockNumber");
  assert.equal(code, NOT_SIGNED, "no reads without an identity");
  return "without an identity: -32602";
}

async function requireTokens(release: Release, folder: string, secret: string): Promise<string> {
  const roles = JSON.stringify([{ name: "app", methods: ["eth_*"], mayRead: true }]);
  release.upgrade(
    ...TLS,
    ...["--set", "rpc.auth.required=true", "--set", `rpc.auth.issuer=${ISSUER}`],
    ...["--set", "rpc.auth.audience={quorate}", "--set", "rpc.auth.secretFile=issuer"],
    ...["--set-json", `rpc.auth.roles=${roles}`],
  );
  await release.waitUntilReady();
  const token = await new SignJWT({ roles: ["app"] })
    .setProtectedHeader({ alg: "HS256" })
    .setIssuer(ISSUER)
    .setAudience("quorate")
    .setSubject("app")
    .setExpirationTime("10m")
    .sign(new TextEncoder().encode(secret));
  assert.equal((await call(release, folder, "eth_blockNumber")).code, NOT_SIGNED);
  const { result } = await call(release, folder, "eth_blockNumber", token);
  assert.match(String(result), /^0x/);
  const denied = await call(release, folder, "debug_traceTransaction", token);
  assert.notEqual(denied.code, undefined, "the role does not list it");
  return `block ${Number(result)} with a token, ${denied.code ?? ""} for another method`;
}

/** As the old product's line makes it: of type LoadBalancer, without a limit. */
async function openBalancer(release: Release, folder: string): Promise<string> {
  release.helm(["uninstall", release.name, "--wait"]);
  const claims = ["pvc", "--selector", `app.kubernetes.io/instance=${release.name}`];
  release.kubectl("delete", ...claims);
  const secrets = ["keys", "network", "admin"].map((name) => `${release.name}-${name}`);
  release.kubectl("delete", "secret", ...secrets);
  release.install("--set", "service.type=LoadBalancer");
  await release.waitUntilReady();
  const { result } = await call(release, folder, "eth_blockNumber");
  assert.match(String(result), /^0x/);
  const { code } = await call(release, folder, "txpool_status");
  assert.ok(METHOD_UNKNOWN_OR_DENIED.includes(code ?? 0), String(code));
  return `eth_blockNumber answers, txpool_status ${code ?? ""}`;
}

/** The next pod may not have been found by the machine's rules yet. */
async function call(
  release: Release,
  folder: string,
  method: string,
  token?: string,
): Promise<{ readonly code?: number; readonly result?: unknown }> {
  const isTls = release.kubectl("get", "configmap", "-o", "yaml").includes("/run/quorate/tls/");
  const url = release.url().replace("http:", isTls ? "https:" : "http:");
  const authorization = token === undefined ? [] : ["-H", `Authorization: Bearer ${token}`];
  const body = JSON.stringify({ id: 1, jsonrpc: "2.0", method, params: [] });
  const said = await waitFor("an answer", 60_000, () =>
    run("curl", [
      ...["-s", "--cacert", path.join(folder, "ca.crt"), "-X", "POST", url],
      ...["-H", "Content-Type: application/json", "-d", body, ...authorization],
    ]),
  );
  const answer: unknown = JSON.parse(said);
  assert.ok(isRecord(answer), said);
  const { error, result } = answer;
  return isRecord(error) ? { code: Number(error["code"]) } : { result };
}

/** An authority, and a certificate for the names of the service and the address of the machine. */
function makeCertificates(folder: string): void {
  mkdirSync(folder, { recursive: true });
  const file = (name: string): string => path.join(folder, name);
  const names = `subjectAltName=DNS:client-0-ethrpc,IP:${NODE_ADDRESS}\n`;
  writeFileSync(file("names"), names);
  const days = ["-days", "2"];
  run("openssl", [
    ...["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=test authority", ...days],
    ...["-keyout", file("ca.key"), "-out", file("ca.crt")],
  ]);
  run("openssl", [
    ...["req", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=client-0-ethrpc"],
    ...["-keyout", file("tls.key"), "-out", file("tls.csr")],
  ]);
  run("openssl", [
    ...["x509", "-req", "-in", file("tls.csr"), "-CA", file("ca.crt"), "-CAkey", file("ca.key")],
    ...["-CAcreateserial", "-extfile", file("names"), ...days, "-out", file("tls.crt")],
  ]);
}
