import assert from "node:assert/strict";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { after, before, describe, it } from "node:test";
import { REQUESTS } from "../../../../src/cli/doctor/examine.ts";
import {
  checkImage,
  checkLoadedImage,
  parseImageName,
} from "../../../../src/cli/doctor/image-check.ts";
import { LOG_STACK_PODS } from "../../../../src/cli/doctor/log-stack-pods.ts";
import { placePods } from "../../../../src/cli/doctor/pod-placement.ts";
import { createProbes } from "../../../../src/cli/doctor/probes.ts";

const GIB = 2 ** 30;
const IMAGE = { repository: "team/quorate", tag: "0.1.0" };
const BASIC = `Basic ${Buffer.from("reader:sesame").toString("base64")}`;
const DIGEST = `sha256:${"ab".repeat(32)}`;
const OCI = "application/vnd.oci.image.index.v1+json";

/** A registry with a token service, as the Docker registry protocol describes it. */
describe("doctor: the image", () => {
  let server: Server;
  let origin = "";
  let isThere = true;

  before(async () => {
    server = createServer((request, response) => {
      const url = new URL(request.url ?? "/", origin);
      const { authorization, accept = "" } = request.headers;
      if (url.pathname === "/token") {
        const isReader = authorization === BASIC;
        const isScoped = url.searchParams.get("scope") === "repository:team/quorate:pull";
        response.statusCode = isReader && isScoped ? 200 : 401;
        response.end(JSON.stringify({ token: "good" }));
        return;
      }
      if (authorization !== "Bearer good") {
        const scope = 'scope="repository:team/quorate:pull"';
        const challenge = `Bearer realm="${origin}/token",service="registry",${scope}`;
        response.writeHead(401, { "www-authenticate": challenge }).end();
        return;
      }
      const isManifest = url.pathname === "/v2/team/quorate/manifests/0.1.0";
      response.statusCode = isManifest && isThere && accept.includes(OCI) ? 200 : 404;
      response.setHeader("docker-content-digest", DIGEST);
      response.end("{}");
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });

  after(() => {
    server.close();
  });

  const access = (password: string): Parameters<typeof checkImage>[0] => ({
    registry: origin,
    username: "reader",
    password,
  });

  it("an image in the registry is found with a token for it", async () => {
    isThere = true;
    const finding = await checkImage(access("sesame"), IMAGE, createProbes().get);
    assert.equal(finding.verdict, "good", finding.found);
    assert.ok(finding.found.endsWith(DIGEST), "image.digest pins it");
  });

  it("an image that is not there comes with the commands that put it there", async () => {
    isThere = false;
    const finding = await checkImage(access("sesame"), IMAGE, createProbes().get);
    assert.equal(finding.verdict, "bad");
    const name = `${origin.replace("http://", "")}/team/quorate:0.1.0`;
    assert.ok(finding.advice?.includes(`docker push ${name}`), name);
  });

  it("a user without the right to pull is told from an image that is not there", async () => {
    const finding = await checkImage(access("wrong"), IMAGE, createProbes().get);
    assert.equal(finding.verdict, "bad");
    assert.match(finding.found, /does not show it to this user \(401\)/);
  });

  it("an image that was loaded into minikube needs no registry", () => {
    const listed = "registry.k8s.io/pause:3.9\nregistry.example/team/quorate:0.1.0\n";
    assert.equal(checkLoadedImage(listed, IMAGE)?.verdict, "good");
    assert.equal(checkLoadedImage("registry.example/team/quorate:0.2.0\n", IMAGE), undefined);
    assert.equal(checkLoadedImage(undefined, IMAGE), undefined);
  });

  it("a name is a repository and a tag", () => {
    assert.deepEqual(parseImageName("team/quorate:0.1.0"), IMAGE);
    for (const text of ["quorate", "quorate:", ":1", "Quorate:1", "a b:1", "quorate:1/2"]) {
      assert.equal(parseImageName(text), undefined, text);
    }
  });
});

describe("doctor: room for the log stack", () => {
  const machine = (cpu: number, memory: number): { name: string; cpu: number; memory: number } => ({
    name: "minikube",
    cpu,
    memory: memory * GIB,
  });
  const withLogs = { ...REQUESTS.minikube, others: LOG_STACK_PODS };

  it("two CPUs and 4 GiB hold the network alone, not the stack beside it", () => {
    assert.equal(placePods([machine(2, 4)], REQUESTS.minikube), undefined);
    assert.match(placePods([machine(2, 4)], withLogs) ?? "", /no machine has .* left for/);
  });

  it("network and stack ask for 1.9 CPUs and 7.6 GiB together", () => {
    const network = [...Array.from({ length: 4 }, () => REQUESTS.minikube.replica)];
    const all = [...network, REQUESTS.minikube.client, ...LOG_STACK_PODS.map(({ wants }) => wants)];
    const cpu = all.reduce((sum, room) => sum + room.cpu, 0);
    const memory = all.reduce((sum, room) => sum + room.memory, 0);
    assert.equal(cpu.toFixed(1), "1.9");
    assert.equal((memory / GIB).toFixed(1), "7.6");
  });

  it("four CPUs and 10 GiB, less what minikube's own pods take, hold both", () => {
    assert.equal(placePods([machine(4 - 0.85, 10 - 0.6)], withLogs), undefined);
  });
});
