/** The command blocks of the guides are run, and what they say about versions and sizes is so. */
import assert from "node:assert/strict";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, describe, it } from "node:test";
import { parse } from "yaml";
import { KUBERNETES_MIN } from "../../../src/cli/doctor/cluster-checks.ts";
import { HELM_MIN, KUBECTL_MIN, REQUESTS } from "../../../src/cli/doctor/examine.ts";
import { LOG_STACK_PODS } from "../../../src/cli/doctor/log-stack-pods.ts";
import { parseResourceQuantity } from "../../../src/cli/doctor/quantity.ts";
import { commandBlocks, fillIn, makeTools, runBlock } from "../../support/docs/doc-commands.ts";
import { HAS_KUBERNETES_TOOLS } from "../../support/processes/kubernetes-tools.ts";
import { renderChart, CREDENTIALS, find } from "../../support/rendered-chart.ts";

const ROOT = path.join(import.meta.dirname, "../../..");
const GUIDES = ["docs/deploy.md", "docs/migrate.md"];
const GIB = 2 ** 30;

describe("commands of the guides", { skip: !HAS_KUBERNETES_TOOLS && "no Helm here" }, () => {
  let folder = "";
  let server: Server;
  let url = "";

  before(async () => {
    folder = mkdtempSync(path.join(tmpdir(), "quorate-guide-"));
    makeTools(path.join(folder, "tools"));
    // The repository as a reader has it, to which blocks may write.
    for (const name of ["deploy", "test/vectors/carried"]) {
      cpSync(path.join(ROOT, name), path.join(folder, "root", name), { recursive: true });
    }
    mkdirSync(path.join(folder, "root/bin"));
    symlinkSync(path.join(ROOT, "bin/quorate.js"), path.join(folder, "root/bin/quorate.js"));
    server = createServer((request, response) => {
      let body = "";
      request.setEncoding("utf8").on("data", (text: string) => (body += text));
      request.on("end", () => response.end(answer(body)));
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });

  after(() => {
    server.close();
    rmSync(folder, { recursive: true });
  });

  for (const guide of GUIDES) {
    it(`every block of ${guide} is run in its order, or run dry`, async () => {
      const names = {
        ...{ blockchain_name: "demo", registry: "registry.example", username: "reader" },
        ...{ password: "sesame", URL: url, OLD_URL: url, cluster: "ledger", region: "eu-west-1" },
        ...{ account: "123456789012", role: "arn:aws:iam::123456789012:role/ebs" },
        ...{ token: "eyJhbGciOi", version: "0.1.0", "EXTERNAL-IP": "127.0.0.1" },
      };
      const tools = path.join(folder, "tools");
      let place = path.join(folder, "root");
      const blocks = commandBlocks(readFileSync(path.join(ROOT, guide), "utf8"));
      assert.ok(blocks.length >= 4);
      for (const { line, text } of blocks) {
        const filled = fillIn(text, names);
        try {
          // A folder that a block changes to is the folder of the next ones.
          const said = await runBlock(`${filled}\necho; pwd`, { folder: place, tools });
          place = said.trimEnd().split("\n").at(-1) ?? place;
        } catch (error) {
          assert.fail(`${guide}:${line}: ${String(error)}\n${filled}`);
        }
      }
    });
  }

  it("versions and sizes in docs/deploy.md are those of chart and doctor", () => {
    const page = readFileSync(path.join(ROOT, "docs/deploy.md"), "utf8");
    const chart = parse(readFileSync(path.join(ROOT, "deploy/chart/Chart.yaml"), "utf8")) as {
      kubeVersion: string;
      version: string;
    };
    assert.equal(chart.kubeVersion, `>=${KUBERNETES_MIN}.0-0`);
    assert.ok(page.includes(`any conformant Kubernetes from ${KUBERNETES_MIN} on`));
    assert.ok(page.includes(`\`helm\` ${HELM_MIN} or newer`));
    assert.ok(page.includes(`\`kubectl\` ${KUBECTL_MIN} or newer`));
    assert.ok(page.includes(`quorate:${chart.version}`));
    const network = [...Array.from({ length: 4 }, () => REQUESTS.minikube.replica)];
    const asked = total([...network, REQUESTS.minikube.client]);
    assert.ok(page.includes(`| ${asked} `), asked);
    const stack = LOG_STACK_PODS.map(({ wants }) => wants);
    const both = total([...network, REQUESTS.minikube.client, ...stack]);
    assert.ok(page.includes(`| ${both}, of which the log stack 1.4 and 6.4`), both);
    assert.equal(total(stack), "1.4 CPUs, 6.4 GiB");
  });

  it("the doctor counts with what the chart's presets ask for", () => {
    const presets = {
      minikube: "values-minikube.yaml",
      eks: "values-eks.yaml",
      cluster: undefined,
    };
    for (const [target, preset] of Object.entries(presets)) {
      const file = path.join(ROOT, "deploy/chart", preset ?? "values.yaml");
      const manifests = renderChart(CREDENTIALS, { args: ["-f", file] });
      const wanted = REQUESTS[target as keyof typeof presets];
      for (const [kind, name, room] of [
        ["StatefulSet", "demo-replica", wanted.replica],
        ["Deployment", "demo-client-0-clientservice", wanted.client],
      ] as const) {
        const { spec } = find(manifests, kind, name) as unknown as Workload;
        const { requests } = spec.template.spec.containers[0]?.resources ?? assert.fail();
        assert.equal(parseResourceQuantity(requests.cpu), room.cpu, target);
        assert.equal(parseResourceQuantity(requests.memory), room.memory, target);
      }
    }
  });
});

type Room = { readonly cpu: number; readonly memory: number };
type Requests = { readonly requests: { readonly cpu: string; readonly memory: string } };
type Workload = {
  readonly spec: {
    readonly template: { readonly spec: { readonly containers: { resources: Requests }[] } };
  };
};

function total(rooms: readonly Room[]): string {
  const cpu = rooms.reduce((sum, room) => sum + room.cpu, 0);
  const memory = rooms.reduce((sum, room) => sum + room.memory, 0);
  return `${cpu.toFixed(1)} CPUs, ${(memory / GIB).toFixed(1)} GiB`;
}

/** As an old chain or a network of ours would answer; a request that is no JSON-RPC fails curl. */
function answer(body: string): string {
  const { id, method } = JSON.parse(body) as { id: number; method: string };
  const balance = "0x3635c9adc5dea00000";
  const accounts = { "0x1111111111111111111111111111111111111111": { balance } };
  const result = method.includes("ump") ? { accounts } : "0x1";
  return JSON.stringify({ id, jsonrpc: "2.0", method, result });
}
