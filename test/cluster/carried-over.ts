/**
 * The old product's guide, line by line and in its order, with no change but registry and image.
 * Its lines are run by a shell, from the folder of the chart.
 */
import assert from "node:assert/strict";
import path from "node:path";
import { isRecord } from "../../src/base/parse-json.ts";
import { LogEndpoint } from "./log-endpoint.ts";
import { KUBECONFIG, NODE_ADDRESS, REGISTRY, ROOT, RUN } from "./machine.ts";
import { kubectl, READY_LINE, type Credentials } from "./release.ts";
import { attempt, run, waitFor } from "./shell.ts";
import { Account, sendUntilTaken, waitForReceipt } from "./steady-load.ts";
import type { StepTable } from "./step-table.ts";
import { createJsonRpcCaller } from "../../src/cli/smoke-test/json-rpc-caller.ts";

const NAME = "ledger-test";
const NAMESPACE = "carried";
const CHART = path.join(ROOT, "deploy/chart");
const VALUES = path.join(ROOT, "test/vectors/carried");
const READY_TIMEOUT_MS = 300_000;
const SERVICES = [
  ...["replica-0", "replica-1", "replica-2", "replica-3"],
  ...["client-0-clientservice", "client-0-ethrpc"],
];
/** What one node may say about an endpoint that is not there. */
const COMPLAINTS_MAX = 5;
const QUIET_MS = 20_000;

export async function runCarriedOver(table: StepTable, credentials: Credentials): Promise<void> {
  const guide = new Guide(credentials);
  kubectl(["create", "namespace", NAMESPACE]);
  kubectl(["config", "set-context", "--current", "--namespace", NAMESPACE]);
  try {
    await table.step("old guide: helm install", () => guide.install());
    await table.step("old guide: service list, sample call", () => guide.sampleCall());
    await table.step("old guide: helm uninstall, install again", () => guide.reinstall());
    await table.step("old guide: another genesis is refused", () => guide.refuseGenesis());
    await table.step("old guide: the two commands start afresh", () => guide.startAfresh());
    await table.step("old guide: logs, by the same install line", () => guide.sendLogs());
    await table.step("log endpoint not there: quiet", () => guide.sendsInVain());
    await table.step("old values file installs", () => guide.installOldValues());
  } finally {
    kubectl(["config", "set-context", "--current", "--namespace", "default"]);
    kubectl(["delete", "namespace", NAMESPACE, "--wait=true"]);
  }
}

class Guide {
  readonly #credentials: Credentials;

  constructor(credentials: Credentials) {
    this.#credentials = credentials;
  }

  /** The guide's line, to the letter. */
  get #installLine(): string {
    const { username, password } = this.#credentials;
    return (
      `helm install ${NAME} . --set global.imageCredentials.registry=${REGISTRY} ` +
      `--set global.imageCredentials.username=${username} ` +
      `--set global.imageCredentials.password=${password}`
    );
  }

  async install(): Promise<string> {
    const startedMs = performance.now();
    const notes = this.#shell(this.#installLine);
    assert.match(notes, /Logs are off: no log stack was found/);
    assert.match(notes, /WARNING: the service client-0-ethrpc asks for a load balancer/);
    await this.#waitForLine();
    const pods = this.#shell("kubectl get pods");
    assert.match(pods, new RegExp(`${NAME}-client-0-clientservice-[a-z0-9]+-[a-z0-9]+ `));
    return `ready after ${((performance.now() - startedMs) / 1000).toFixed(1)} s`;
  }

  /** `minikube service list` shows the port of the machine; so does kubectl. */
  async sampleCall(): Promise<string> {
    const listed = this.#shell("kubectl get svc");
    assert.match(listed, /client-0-ethrpc +LoadBalancer .* 8545:\d+\/TCP/);
    const said = this.#shell(
      `curl -s -X POST '${this.#url()}' -H 'Content-Type: application/json' ` +
        `-H "Accept: application/json" -d '{"id": 1, "jsonrpc":"2.0",` +
        `"method": "eth_getBlockByNumber","params": ["0x00",true]}'`,
    );
    const answer: unknown = JSON.parse(said);
    assert.ok(isRecord(answer) && isRecord(answer["result"]));
    assert.equal(answer["method"], "eth_getBlockByNumber");
    assert.equal(answer["result"]["number"], "0x0");
    await this.#write();
    return `block 0 ${String(answer["result"]["hash"]).slice(0, 10)}, method echoed`;
  }

  async reinstall(): Promise<string> {
    const before = await this.#blockNumber();
    await this.#uninstall();
    this.#shell(this.#installLine);
    await this.#waitForLine();
    const after = await this.#blockNumber();
    assert.equal(after, before, "the chain is the same");
    return `block ${before} before and after`;
  }

  async refuseGenesis(): Promise<string> {
    await this.#uninstall();
    const line = `${this.#installLine} --set genesisBlock.config.chainId=6000`;
    const { status, stderr } = this.#attempt(line);
    assert.notEqual(status, 0);
    assert.match(stderr, /chainId: the network has 5000, this asks for 6000/);
    const commands = [...stderr.matchAll(/^ {3}(kubectl delete .*)$/gm)].map(([, text]) => text);
    assert.equal(commands.length, 2, stderr);
    this.#deletion = commands.join("\n");
    return "with the two commands";
  }

  #deletion = "";

  async startAfresh(): Promise<string> {
    assert.notEqual(this.#deletion, "", "the refusal named the commands");
    this.#shell(this.#deletion);
    this.#shell(`${this.#installLine} --set genesisBlock.config.chainId=6000`);
    await this.#waitForLine();
    const call = createJsonRpcCaller(this.#url());
    assert.equal(await call("eth_chainId", []), "0x1770");
    await this.#uninstall();
    this.#shell(this.#deletion);
    return "chain id 6000";
  }

  /** The stack's service is there, so the line of the plain install sends logs. */
  async sendLogs(): Promise<string> {
    await this.#uninstall();
    const endpoint = await LogEndpoint.open();
    try {
      const notes = this.#shell(this.#installLine);
      assert.match(notes, /Logs are on: the log stack was found in the cluster/);
      await this.#waitForLine();
      await this.#write();
      await waitFor("logs of every service", 60_000, () => {
        const names = endpoint.values("service_name");
        return SERVICES.every((name) => names.has(name)) ? true : undefined;
      });
      assert.deepEqual([...endpoint.values("blockchain_id")], [NAME]);
      assert.deepEqual(endpoint.failures(), [], "no entry failed in the pipeline");
      const stored = await endpoint.stored();
      for (const name of stored === undefined ? [] : SERVICES) {
        assert.ok((stored?.get(name) ?? 0) > 0, `${name} is in the store`);
      }
      const where = stored === undefined ? "" : ", all in Elasticsearch";
      return `${endpoint.count} entries of ${SERVICES.length} services${where}`;
    } finally {
      await endpoint.close();
    }
  }

  /** The preset sends logs to a stack that is not there: nodes start, go on, and say so seldom. */
  async sendsInVain(): Promise<string> {
    await this.#uninstall();
    this.#shell(this.#deletion);
    const notes = this.#shell(`${this.#installLine} -f values-logging.yaml`);
    assert.match(notes, /Logs are on: logManagement\.enabled is true/);
    await this.#waitForLine();
    const before = await this.#blockNumber();
    const endMs = performance.now() + QUIET_MS;
    while (performance.now() < endMs) await this.#write();
    const after = await this.#blockNumber();
    assert.ok(after > before, "the chain goes on");
    const pods = this.#shell("kubectl get pods -o name").trim().split("\n");
    const complaints = pods.map((pod) => {
      const lines = this.#shell(`kubectl logs ${pod}`).split("\n");
      return lines.filter((line) => line.includes("the log endpoint takes no lines")).length;
    });
    assert.ok(
      complaints.every((count) => count >= 1 && count <= COMPLAINTS_MAX),
      complaints.join(),
    );
    await this.#uninstall();
    this.#shell(this.#deletion);
    return `${after - before} blocks meanwhile; lines about it: ${complaints.join(", ")}`;
  }

  async installOldValues(): Promise<string> {
    await this.#uninstall();
    const startedMs = performance.now();
    const file = path.join(VALUES, "values.yaml");
    const notes = this.#shell(`${this.#installLine} -f ${file}`);
    assert.match(notes, /global\.image\.tag 0\.0\.0\.0\.7849 is a build of the old product/);
    await this.#waitForLine();
    const block = await createJsonRpcCaller(this.#url())("eth_getBlockByNumber", ["0x0", true]);
    assert.ok(isRecord(block) && Array.isArray(block["transactions"]));
    const [funding] = block["transactions"] as { readonly to: string; readonly value: string }[];
    assert.equal(funding?.to.toLowerCase(), "0xfb389874fb4e03182a7358275eaf78008775c7ed");
    assert.equal(BigInt(funding.value), 2n ** 63n - 1n);
    await this.#write();
    const seconds = ((performance.now() - startedMs) / 1000).toFixed(1);
    await this.#uninstall();
    return `ready after ${seconds} s with a tenth of a CPU each`;
  }

  #shell(line: string): string {
    return run("sh", ["-ec", line], this.#options());
  }

  #attempt(line: string): ReturnType<typeof attempt> {
    return attempt("sh", ["-ec", line], this.#options());
  }

  #options(): NonNullable<Parameters<typeof run>[2]> {
    const tools = path.join(RUN, "tools");
    const environment = { KUBECONFIG, PATH: `${tools}:${process.env["PATH"] ?? ""}` };
    return { environment, directory: CHART, timeoutMs: READY_TIMEOUT_MS + 100_000 };
  }

  /** As the guide says: in the log of the pod of the client service. */
  async #waitForLine(): Promise<void> {
    await waitFor("the ready line", READY_TIMEOUT_MS, () => {
      const pods = this.#shell("kubectl get pods -o name");
      const pod = /pod\/\S+-client-0-clientservice-\S+/.exec(pods)?.[0];
      if (pod === undefined) return undefined;
      return this.#shell(`kubectl logs ${pod}`).includes(READY_LINE) ? true : undefined;
    });
    this.#shell(`kubectl rollout status deployment/${NAME}-client-0-clientservice`);
    // The machine's own rules follow the state of the pod a moment later.
    await waitFor("the service to answer", 60_000, () => this.#blockNumber());
  }

  #url(): string {
    const field = "jsonpath={.spec.ports[0].nodePort}";
    const port = this.#shell(`kubectl get svc client-0-ethrpc -o '${field}'`);
    return `http://${NODE_ADDRESS}:${port}`;
  }

  async #write(): Promise<void> {
    const call = createJsonRpcCaller(this.#url());
    const hash = await sendUntilTaken(call, new Account().next());
    await waitForReceipt(call, hash, READY_TIMEOUT_MS);
  }

  async #blockNumber(): Promise<number> {
    return Number(await createJsonRpcCaller(this.#url())("eth_blockNumber", []));
  }

  async #uninstall(): Promise<void> {
    this.#shell(`helm uninstall ${NAME} --ignore-not-found`);
    await waitFor("the pods to end", 90_000, () =>
      this.#shell("kubectl get pods -o name") === "" ? true : undefined,
    );
  }
}
