/** TLS, tokens, sign-in and the ways out of the pods, as the chart sets them. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import path from "node:path";
import { describe, it } from "node:test";
import { RPC_ACCESS_SETTINGS } from "../../../src/config/rpc-access-settings.ts";
import { HAS_KUBERNETES_TOOLS } from "../../support/processes/kubernetes-tools.ts";
import {
  CHART,
  CREDENTIALS,
  find,
  flatten,
  renderChart,
  renderNotes,
} from "../../support/rendered-chart.ts";

type RpcConfig = {
  readonly clientRateMax?: number;
  readonly auth: Readonly<Record<string, unknown>>;
  readonly tls?: Readonly<Record<string, unknown>>;
};

function rpcConfig(settings: readonly string[], args: readonly string[] = []): RpcConfig {
  const manifests = renderChart([...CREDENTIALS, ...settings], { args });
  const { data } = find(manifests, "ConfigMap", "demo-client-0-clientservice") as unknown as {
    readonly data: Readonly<Record<string, string>>;
  };
  return (JSON.parse(data["client.json"] ?? "") as { readonly rpc: RpcConfig }).rpc;
}

describe("access to ethrpc by the chart", { skip: !HAS_KUBERNETES_TOOLS && "no Helm here" }, () => {
  it("knows every setting of rpc.auth by its name", () => {
    const schema = JSON.parse(readFileSync(path.join(CHART, "values.schema.json"), "utf8")) as {
      properties: { rpc: { properties: { auth: { properties: object } } } };
    };
    const known = Object.keys(schema.properties.rpc.properties.auth.properties);
    const settings = Object.keys(RPC_ACCESS_SETTINGS)
      .filter((name) => name.startsWith("rpc.auth."))
      .map((name) => name.slice("rpc.auth.".length));
    assert.deepEqual(
      known.filter((name) => name !== "existingSecret").sort(),
      settings.sort(),
      "bring rpc.auth of deploy/chart/values.schema.json up to date",
    );
  });

  it("wallets may sign in under every name of the service", () => {
    const { signInDomains } = rpcConfig([]).auth;
    assert.ok(Array.isArray(signInDomains));
    for (const name of ["", ".space", ".space.svc", ".space.svc.cluster.local"]) {
      assert.ok(signInDomains.includes(`client-0-ethrpc${name}:*`), name);
    }
    const own = rpcConfig(["rpc.auth.signInDomains={rpc.example}"]).auth["signInDomains"];
    assert.deepEqual(own, ["rpc.example"]);
  });

  it("TLS comes from a Secret, and callers can be asked for certificates", () => {
    assert.equal(rpcConfig([]).tls, undefined);
    const settings = ["rpc.tls.existingSecret=ethrpc-tls", "rpc.tls.clientCertificates=optional"];
    assert.deepEqual(rpcConfig(settings).tls, {
      cert: "/run/quorate/tls/tls.crt",
      key: "/run/quorate/tls/tls.key",
      clientCa: "/run/quorate/tls/ca.crt",
      isClientCertRequired: false,
    });
    const values = flatten(renderChart([...CREDENTIALS, ...settings]));
    const pod = "Deployment/demo-client-0-clientservice.spec.template.spec";
    assert.equal(values.get(`${pod}.volumes.5.secret.secretName`), "ethrpc-tls");
    assert.equal(
      values.get("Pod/demo-test.spec.containers.0.args.2"),
      "https://client-0-ethrpc:8545",
    );
    assert.match(renderNotes([...CREDENTIALS, ...settings]), /https:\/\/localhost:8545/);
  });

  it("files of tokens are keys of a Secret", () => {
    const { auth } = rpcConfig([
      ...["rpc.auth.existingSecret=ethrpc-auth", "rpc.auth.secretFile=issuer"],
      ...["rpc.auth.issuer=https://login.example", "rpc.auth.audience={quorate}"],
      "rpc.auth.required=true",
    ]);
    assert.equal(auth["secretFile"], "/run/quorate/auth/issuer");
    assert.equal(auth["required"], true);
    assert.equal("existingSecret" in auth, false);
  });

  const refused: readonly (readonly [string, RegExp])[] = [
    ["rpc.tls.clientCertificates=required", /needs rpc\.tls\.existingSecret/],
    ["rpc.auth.jwksFile=keys", /Name the Secret by rpc\.auth\.existingSecret/],
    ["rpc.auth.requried=true", /additional propert.*requried/i],
  ];
  for (const [setting, message] of refused) {
    it(`${setting} is refused`, () => {
      assert.throws(() => renderChart([...CREDENTIALS, setting]), { message });
    });
  }

  it("a load balancer without a limit opens neither traces nor unlimited rates", () => {
    const open = rpcConfig([]);
    assert.deepEqual(open.auth["methods"], [
      "eth_*",
      "net_*",
      "web3_*",
      "rpc_modules",
      "quorate_*",
    ]);
    assert.equal(open.clientRateMax, 1000);
    const chosen = rpcConfig(["rpc.auth.methods={*}", "rpc.limits.clientRateMax=0"]);
    assert.deepEqual(chosen.auth["methods"], ["*"]);
    assert.equal(chosen.clientRateMax, 0);
    for (const args of [
      ["-f", path.join(CHART, "values-eks.yaml")],
      ["-f", path.join(CHART, "values-minikube.yaml")],
      ["--set", "service.type=ClusterIP"],
    ]) {
      const { auth, clientRateMax } = rpcConfig([], args);
      assert.equal(auth["methods"], undefined, args.join(" "));
      assert.equal(clientRateMax, undefined, args.join(" "));
    }
  });

  it("pods reach DNS, replicas and what the values name, and nothing else", () => {
    const egress = (settings: readonly string[]): readonly string[] => {
      const values = flatten(renderChart([...CREDENTIALS, ...settings]));
      const rule = /^NetworkPolicy\/demo-replica\.spec\.egress\.\d+\.ports\.\d+\.port$/;
      return [...values].filter(([place]) => rule.test(place)).map(([, port]) => port);
    };
    assert.deepEqual(egress([]), ["53", "53", "5353", "5353", "7000"]);
    const more = ["logManagement.enabled=true", "rpc.auth.jwksUrl=https://login.example/keys"];
    assert.deepEqual(egress(more).slice(5), ["8080", "443"]);
    assert.deepEqual(egress(["networkPolicy.egress=false"]), []);
  });

  it("values of a release of the chart before render as well (helm upgrade --reuse-values)", () => {
    const missing = ["rpc.tls", "rpc.auth", "monitoring.dashboard", "networkPolicy.egress"];
    const settings = [...missing, "logManagement", "service.websocketPort"];
    const args = settings.flatMap((name) => ["--set", `${name}=null`]);
    assert.ok(renderChart(CREDENTIALS, { args }).length > 10);
    assert.match(renderNotes(CREDENTIALS, args), /helm test demo/);
  });
});
