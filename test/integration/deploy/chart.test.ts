import assert from "node:assert/strict";
import { globSync, readFileSync, writeFileSync, mkdirSync } from "node:fs";
import path from "node:path";
import { describe, it } from "node:test";
import ts from "typescript";
import { DEFAULT_CALL_LIMITS } from "../../../src/client/client-options.ts";
import { DEFAULT_RPC_LIMITS } from "../../../src/rpc/rpc-options.ts";
import { parseWantedNetwork } from "../../../src/cli/cluster-init/wanted-network.ts";
import { HAS_KUBERNETES_TOOLS } from "../../support/processes/kubernetes-tools.ts";
import {
  CHART,
  CREDENTIALS,
  find,
  flatten,
  renderChart,
  runHelm,
  type Helm,
  type Manifest,
} from "../../support/rendered-chart.ts";

const ROOT = path.join(import.meta.dirname, "../../..");
const HELMS: readonly Helm[] = ["helm-3", "helm-4"];
const PRESETS = ["values-minikube.yaml", "values-eks.yaml", "values-logging.yaml"];
const EVERYTHING = [
  ...CREDENTIALS,
  "ingress.enabled=true",
  "ingress.host=ethrpc.example",
  "logManagement.endpoint_1.username=sender",
  "logManagement.endpoint_2.url=http://second.example",
  "global.ethPermissioningWriteEnabled=true",
  "service.loadBalancerSourceRanges={10.0.0.0/8}",
  "replica.extraEnv[0].name=QUORATE_LOG_LEVEL",
  "replica.extraEnv[0].value=warn",
  "client.podAnnotations.team=ledger",
];

type Refusal = {
  readonly what: string;
  readonly settings: readonly string[];
  readonly message: RegExp;
  readonly release?: string;
};

const REFUSALS: readonly Refusal[] = [
  {
    what: "P1: no registry",
    settings: CREDENTIALS.slice(1),
    message: /Missing: global\.imageCredentials\.registry\./,
  },
  {
    what: "P2: no user name",
    settings: CREDENTIALS.filter((setting) => !setting.includes("username")),
    message: /Missing: global\.imageCredentials\.username\./,
  },
  {
    what: "P3: no password",
    settings: CREDENTIALS.slice(0, 2),
    message: /Missing: global\.imageCredentials\.password\./,
  },
  {
    what: "P1-P3: nothing at all",
    settings: [],
    message: /Missing: .*registry, .*username, .*password\.\n.*\n.*--set global\.imageCredentials/,
  },
  ...["2022-12-02", "2022-12-02T00:01:00Z", "02.12.2022 00:01:00", "2022-12-02 1:00:00"].map(
    (timestamp) => ({
      what: `P11: ${timestamp}`,
      settings: [...CREDENTIALS, `genesisBlock.timestamp=${timestamp}`],
      message: /Write it as YYYY-MM-DD hh:mm:ss, in UTC and 24 hours/,
    }),
  ),
  ...["2022-02-30 00:00:00", "2022-12-02 24:00:00", "2022-13-01 00:00:00"].map((timestamp) => ({
    what: `P11: ${timestamp}`,
    settings: [...CREDENTIALS, `genesisBlock.timestamp=${timestamp}`],
    message: /which is no date/,
  })),
  {
    what: "P11: a time to come",
    settings: [...CREDENTIALS, "genesisBlock.timestamp=2999-01-01 00:00:00"],
    message: /is in the future/,
  },
  {
    what: "P15: an endpoint although logging is off",
    settings: [
      ...CREDENTIALS,
      "logManagement.enabled=false",
      "logManagement.endpoint_1.url=http://logs.example",
    ],
    message: /logManagement\.enabled is false, but an endpoint is given/,
  },
  {
    what: "P8: a URL of another kind",
    settings: [...CREDENTIALS, "logManagement.endpoint_1.url=logs.example:8080"],
    message: /logManagement\.endpoint_1\.url is "logs\.example:8080"\. Write http:\/\/host/,
  },
  {
    what: "P16: an unknown parameter",
    settings: [...CREDENTIALS, "replicas=7"],
    message: /additional propert.*replicas.* not allowed/i,
  },
  {
    what: "P16: an unknown parameter further down",
    settings: [...CREDENTIALS, "global.storageclass=fast"],
    message: /global[\s\S]*additional propert.*storageclass.* not allowed/i,
  },
  {
    what: "P16: an unknown limit",
    settings: [...CREDENTIALS, "rpc.limits.bodyMax=1"],
    message: /limits[\s\S]*additional propert.*bodyMax.* not allowed/i,
  },
  {
    what: "P6: no truth value",
    settings: [...CREDENTIALS, "global.ethPermissioningWriteEnabled=maybe"],
    message: /ethPermissioningWriteEnabled/,
  },
  {
    what: "P14: no address",
    settings: [...CREDENTIALS, "genesisBlock.alloc[0].address=0x12"],
    message: /address/,
  },
  {
    what: "P16: a release name too long for the pods' names",
    settings: CREDENTIALS,
    message: /has 24 characters\. Use at most 23/,
    release: "a-name-of-24-characters-",
  },
];

describe("the chart", { skip: !HAS_KUBERNETES_TOOLS && "no Helm here" }, () => {
  for (const helm of HELMS) {
    it(`passes the strict lint of ${helm}, with every preset`, () => {
      for (const preset of ["", ...PRESETS]) {
        const files = preset === "" ? [] : ["-f", path.join(CHART, preset)];
        const settings = CREDENTIALS.flatMap((setting) => ["--set", setting]);
        const { status, stdout } = runHelm(helm, [
          "lint",
          "--strict",
          CHART,
          ...files,
          ...settings,
        ]);
        assert.equal(status, 0, `${preset}: ${stdout}`);
      }
    });

    for (const { what, settings, message, release = "demo" } of REFUSALS) {
      it(`${helm} refuses ${what}, and says why`, () => {
        const name = release.endsWith("-") ? `${release.slice(0, -1)}x` : release;
        assert.throws(() => renderChart(settings, { helm, release: name }), { message });
      });
    }
  }

  it("is rendered alike by Helm 3 and Helm 4", () => {
    for (const settings of [CREDENTIALS, EVERYTHING]) {
      const [three, four] = HELMS.map((helm) =>
        [...flatten(renderChart(settings, { helm }))].sort(),
      );
      assert.deepEqual(four, three);
    }
  });

  it("fits the schemas of Kubernetes, and has no field that they do not know", async () => {
    const manifests = [...renderChart(CREDENTIALS), ...renderChart(EVERYTHING)];
    for (const manifest of manifests) await validate(manifest);
    assert.deepEqual(unknownFields(manifests), []);
  });

  it("asks older clusters for what they have, and refuses those that are too old", () => {
    const old = renderChart(CREDENTIALS, { args: ["--kube-version", "1.22.0"] });
    assert.equal(flatten(old).has("StatefulSet/demo-replica.spec.minReadySeconds"), false);
    const now = renderChart(CREDENTIALS, { args: ["--kube-version", "1.34.4"] });
    assert.equal(flatten(now).has("StatefulSet/demo-replica.spec.minReadySeconds"), true);
    const tooOld = { args: ["--kube-version", "1.21.14"] };
    assert.throws(() => renderChart(CREDENTIALS, tooOld), { message: />=1\.22\.0-0/ });
  });

  it("says after an install how to go on", () => {
    const settings = CREDENTIALS.flatMap((setting) => ["--set", setting]);
    // Helm 3 does not show its notes without a cluster.
    const args = ["install", "demo", CHART, "--dry-run=client", ...settings];
    const { stdout } = runHelm("helm-4", args);
    const notes = stdout.slice(stdout.indexOf("NOTES:"));
    for (const step of [
      "kubectl rollout status deployment/demo-client-0-clientservice --namespace default",
      "grep 'client_id=8 is serving - the pool is ready'",
      "minikube service client-0-ethrpc --namespace default --url",
      "kubectl get service client-0-ethrpc --namespace default",
      "helm test demo --namespace default",
      "kubectl get secret demo-admin --namespace default",
      "kubectl delete pvc --selector app.kubernetes.io/instance=demo --namespace default",
    ]) {
      assert.ok(notes.includes(step), step);
    }
  });

  it("D1: names four replicas, client-0 and its service", () => {
    const values = flatten(renderChart(CREDENTIALS));
    assert.equal(values.get("StatefulSet/demo-replica.spec.replicas"), "4");
    assert.equal(values.get("StatefulSet/demo-replica.spec.podManagementPolicy"), "Parallel");
    assert.equal(values.get("Deployment/demo-client-0-clientservice.spec.replicas"), "1");
    assert.equal(values.get("Service/client-0-ethrpc.spec.ports.0.port"), "8545");
    assert.equal(values.get("Service/demo-replicas.spec.publishNotReadyAddresses"), "true");
    assert.equal(values.get("Service/client-0-ethrpc.spec.type"), "LoadBalancer");
  });

  it("D3: what the init Job reads is what its program understands", () => {
    const { data } = find(renderChart(EVERYTHING), "ConfigMap", "demo-init") as unknown as {
      readonly data: Readonly<Record<string, string>>;
    };
    const wanted = parseWantedNetwork(data["wanted.json"] ?? "");
    assert.ok(wanted.ok, wanted.ok ? "" : JSON.stringify(wanted.error));
    assert.equal(wanted.value.genesis.chainId, 5000n);
    assert.equal(wanted.value.replicas[3]?.host, "demo-replica-3.demo-replicas");
  });

  it("keeps what is secret in Secrets, and out of the chart", () => {
    for (const manifest of renderChart([
      ...EVERYTHING,
      "logManagement.endpoint_1.password=hidden",
    ])) {
      if (manifest.kind === "Secret") continue;
      assert.doesNotMatch(JSON.stringify(manifest), /sesame|hidden|c2VzYW1l|-----BEGIN/);
    }
    for (const name of globSync("deploy/**/*.*", { cwd: ROOT })) {
      const text = readFileSync(path.join(ROOT, name), "utf8");
      assert.doesNotMatch(text, /-----BEGIN|\b0x[0-9a-f]{64}\b/i, name);
    }
  });

  it("runs every pod without root, without rights and without a token but the init Job's", () => {
    const values = flatten(renderChart(EVERYTHING));
    const pods = [
      "StatefulSet/demo-replica.spec.template.spec",
      "Deployment/demo-client-0-clientservice.spec.template.spec",
      "Job/demo-init.spec.template.spec",
      "Pod/demo-test.spec",
    ];
    for (const pod of pods) {
      assert.equal(values.get(`${pod}.securityContext.runAsNonRoot`), "true", pod);
      const container = `${pod}.containers.0.securityContext`;
      assert.equal(values.get(`${container}.readOnlyRootFilesystem`), "true", pod);
      assert.equal(values.get(`${container}.allowPrivilegeEscalation`), "false", pod);
      assert.equal(values.get(`${container}.capabilities.drop.0`), "ALL", pod);
      const hasToken = String(pod.startsWith("Job/"));
      assert.equal(values.get(`${pod}.automountServiceAccountToken`), hasToken, pod);
      assert.notEqual(values.get(`${pod}.imagePullSecrets.0.name`), undefined, pod);
    }
  });

  it("knows every limit of ethrpc by name", () => {
    const schema = JSON.parse(readFileSync(path.join(CHART, "values.schema.json"), "utf8")) as {
      properties: {
        rpc: { properties: { limits: { properties: object } } };
        calls: { properties: object };
      };
    };
    assert.deepEqual(
      Object.keys(schema.properties.calls.properties).sort(),
      Object.keys(DEFAULT_CALL_LIMITS).sort(),
      "bring calls of deploy/chart/values.schema.json up to date",
    );
    const known = Object.keys(schema.properties.rpc.properties.limits.properties).sort();
    assert.deepEqual(
      known,
      Object.keys(DEFAULT_RPC_LIMITS).sort(),
      "bring rpc.limits of deploy/chart/values.schema.json up to date",
    );
  });

  it("has the resources of SPEC P12 and P13 in the preset for EKS", () => {
    const args = ["-f", path.join(CHART, "values-eks.yaml")];
    const values = flatten(renderChart(CREDENTIALS, { args }));
    const replica = "StatefulSet/demo-replica.spec.template.spec.containers.0.resources";
    assert.equal(values.get(`${replica}.requests.cpu`), "10000m");
    assert.equal(values.get(`${replica}.limits.memory`), "56Gi");
    const client =
      "Deployment/demo-client-0-clientservice.spec.template.spec.containers.0.resources";
    assert.equal(values.get(`${client}.limits.cpu`), "5000m");
    assert.equal(values.get(`${client}.requests.memory`), "28Gi");
    const claim = "PersistentVolumeClaim/demo-client-0-clientservice.spec.storageClassName";
    assert.equal(values.get(claim), "gp2");
  });
});

async function validate(manifest: Manifest): Promise<void> {
  const { apiVersion, kind, metadata } = manifest;
  const module_ = (await import(`kubernetes-models/${apiVersion}/${kind}`)) as Readonly<
    Record<string, new (data: unknown) => { validate(): void }>
  >;
  const Model = module_[kind];
  assert.ok(Model !== undefined, `${apiVersion} ${kind} is known`);
  assert.doesNotThrow(() => new Model(manifest).validate(), `${kind} ${metadata.name}`);
}

/** The validators let unknown fields pass. The compiler, given the types, does not. */
function unknownFields(manifests: readonly Manifest[]): readonly string[] {
  const folder = path.join(ROOT, ".cache/chart-types");
  mkdirSync(folder, { recursive: true });
  const file = path.join(folder, "manifests.ts");
  const lines = manifests.map(({ apiVersion, kind, ...rest }, index) => {
    const type = `import("kubernetes-models/${apiVersion}/${kind}").I${kind}`;
    const value = JSON.stringify({ apiVersion, kind, ...rest });
    return `export const manifest${index}: ${type} = ${value};`;
  });
  writeFileSync(file, lines.join("\n"));
  const program = ts.createProgram([file], {
    ...{ noEmit: true, strict: true, skipLibCheck: true, types: [] },
    ...{ module: ts.ModuleKind.NodeNext, target: ts.ScriptTarget.ESNext },
  });
  return ts
    .getPreEmitDiagnostics(program)
    .map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, "\n"));
}
