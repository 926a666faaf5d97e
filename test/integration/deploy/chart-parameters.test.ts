import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { HAS_KUBERNETES_TOOLS } from "../../support/processes/kubernetes-tools.ts";
import {
  CREDENTIALS,
  differences,
  flatten,
  renderChart,
  type Manifest,
} from "../../support/rendered-chart.ts";

type Case = {
  readonly clause: string;
  readonly settings: readonly string[];
  /** What differs from the defaults; anything else that differs is a failure. */
  readonly changes: readonly (string | RegExp)[];
};

const STATEFUL_SET = "StatefulSet/demo-replica";
const CLIENT = "demo-client-0-clientservice";
const REPLICA_CLAIM = `${STATEFUL_SET}.spec.volumeClaimTemplates.0.spec`;
const CLIENT_CLAIM = `PersistentVolumeClaim/${CLIENT}.spec`;
const WANTED = "ConfigMap/demo-init.data.wanted.json";
const REPLICA = `${STATEFUL_SET}.spec.template.spec`;
const DEPLOYMENT = `Deployment/${CLIENT}.spec.template.spec`;
const IMAGES = [
  `${DEPLOYMENT}.containers.0.image`,
  "Job/demo-init.spec.template.spec.containers.0.image",
  "Pod/demo-test.spec.containers.0.image",
  `${REPLICA}.containers.0.image`,
];
const AUTHS = ["demo-init-registry", "demo-registry"].map(
  (name) => `Secret/${name}.data..dockerconfigjson.auths`,
);
const NODES = [DEPLOYMENT, REPLICA];
const CONFIG = `ConfigMap/${CLIENT}.data.client.json`;
/** What a load balancer without a limit closes, and anything else does not. */
const OPENED = [
  `${CONFIG}.rpc.clientRateMax: 1000 -> -`,
  ...["eth_*", "net_*", "web3_*", "rpc_modules", "quorate_*"].map(
    (methods, index) => `${CONFIG}.rpc.auth.methods.${index}: ${methods} -> -`,
  ),
];
/** Logs need a way out, too. */
const logPort = (port: number): string[] =>
  ["demo-replica", CLIENT].flatMap((name) => [
    `NetworkPolicy/${name}.spec.egress.2.ports.0.port: - -> ${port}`,
    `NetworkPolicy/${name}.spec.egress.2.ports.0.protocol: - -> TCP`,
  ]);

const CASES: readonly Case[] = [
  {
    clause: "P1: the registry",
    settings: ["global.imageCredentials.registry=https://other.example/"],
    changes: [
      ...IMAGES.map(
        (place) => `${place}: registry.example/quorate:0.1.0 -> other.example/quorate:0.1.0`,
      ),
      ...AUTHS.flatMap((place) => [
        new RegExp(`^${place}\\.other\\.example\\.(auth|username|password): - -> `),
        new RegExp(`^${place}\\.registry\\.example\\.(auth|username|password): .* -> -$`),
      ]),
    ],
  },
  {
    clause: "P2: the user name",
    settings: ["global.imageCredentials.username=other"],
    changes: AUTHS.flatMap((place) => [
      `${place}.registry.example.auth: cmVhZGVyOnNlc2FtZQ== -> b3RoZXI6c2VzYW1l`,
      `${place}.registry.example.username: reader -> other`,
    ]),
  },
  {
    clause: "P3: the password, also as a number",
    settings: ["global.imageCredentials.password=12345678901"],
    changes: AUTHS.flatMap((place) => [
      `${place}.registry.example.auth: cmVhZGVyOnNlc2FtZQ== -> cmVhZGVyOjEyMzQ1Njc4OTAx`,
      `${place}.registry.example.password: sesame -> 12345678901`,
    ]),
  },
  {
    clause: "P4: the storage class",
    settings: ["global.storageClass=fast"],
    changes: [REPLICA_CLAIM, CLIENT_CLAIM].map(
      (place) => `${place}.storageClassName: standard -> fast`,
    ),
  },
  {
    clause: "P5: its other name, which wins",
    settings: ["global.storageClass=fast", "global.storageClassName=gp2"],
    changes: [REPLICA_CLAIM, CLIENT_CLAIM].map(
      (place) => `${place}.storageClassName: standard -> gp2`,
    ),
  },
  {
    clause: "P6: write permissions, for which helm test acts as the admin",
    settings: ["global.ethPermissioningWriteEnabled=true"],
    changes: [
      `${WANTED}.genesis.isWritePermissioned: false -> true`,
      /^Pod\/demo-test\.spec\.containers\.0\.args\.[34]: - -> /,
      /^Pod\/demo-test\.spec\.(containers\.0\.volumeMounts|volumes)\.0\./,
    ],
  },
  {
    clause: "P7: read permissions, for which helm test acts as the admin",
    settings: ["global.ethPermissioningReadEnabled=true"],
    changes: [
      `${WANTED}.genesis.isReadPermissioned: false -> true`,
      /^Pod\/demo-test\.spec\.containers\.0\.args\.[34]: - -> /,
      /^Pod\/demo-test\.spec\.(containers\.0\.volumeMounts|volumes)\.0\./,
    ],
  },
  {
    clause: "P8: a log endpoint, port 8080 without another",
    settings: ["logManagement.endpoint_1.url=https://logs.example/in"],
    changes: [
      ...logPort(8080),
      ...NODES.flatMap((place) => [
        `${place}.containers.0.env.1.name: - -> QUORATE_LOG_ENDPOINT_1_URL`,
        `${place}.containers.0.env.1.value: - -> https://logs.example:8080/in`,
      ]),
    ],
  },
  {
    clause: "P8: a log endpoint with a port",
    settings: ["logManagement.endpoint_1.url=http://logs.example:9000"],
    changes: [
      ...logPort(9000),
      ...NODES.flatMap((place) => [
        `${place}.containers.0.env.1.name: - -> QUORATE_LOG_ENDPOINT_1_URL`,
        `${place}.containers.0.env.1.value: - -> http://logs.example:9000`,
      ]),
    ],
  },
  {
    clause: "P9, P10: who sends logs, in a Secret alone",
    settings: ["logManagement.endpoint_1.username=sender", "logManagement.endpoint_1.password=7"],
    changes: [
      /^Secret\/demo-log-endpoints\.(apiVersion|kind|type|metadata\..*): - -> /,
      ...logPort(8080),
      "Secret/demo-log-endpoints.data.endpoint_1.username: - -> sender",
      "Secret/demo-log-endpoints.data.endpoint_1.password: - -> 7",
      ...NODES.flatMap((place) => [
        `${place}.containers.0.env.1.name: - -> QUORATE_LOG_ENDPOINT_1_URL`,
        `${place}.containers.0.env.1.value: - -> http://logstash-logstash.default.svc.cluster.local:8080`,
        ...["USERNAME", "PASSWORD"].flatMap((field, index) => [
          `${place}.containers.0.env.${index + 2}.name: - -> QUORATE_LOG_ENDPOINT_1_${field}`,
          `${place}.containers.0.env.${index + 2}.valueFrom.secretKeyRef.name: - -> demo-log-endpoints`,
          `${place}.containers.0.env.${index + 2}.valueFrom.secretKeyRef.key: - -> endpoint_1.${field.toLowerCase()}`,
        ]),
      ]),
    ],
  },
  {
    clause: "P11: the timestamp of genesis",
    settings: ["genesisBlock.timestamp=2024-02-29 23:59:59"],
    changes: [`${WANTED}.genesis.timestamp: 2022-12-02 00:01:00 -> 2024-02-29 23:59:59`],
  },
  {
    clause: "P12: resources of replicas",
    settings: [
      "resources.replica.cpuRequest=10000m",
      "resources.replica.cpuLimit=11",
      "resources.replica.memoryRequest=56Gi",
      "resources.replica.memoryLimit=57Gi",
    ],
    changes: [
      `${REPLICA}.containers.0.resources.limits.cpu: 1000m -> 11`,
      `${REPLICA}.containers.0.resources.limits.memory: 1Gi -> 57Gi`,
      `${REPLICA}.containers.0.resources.requests.cpu: 100m -> 10000m`,
      `${REPLICA}.containers.0.resources.requests.memory: 256Mi -> 56Gi`,
    ],
  },
  {
    clause: "P13: resources of the client node",
    settings: [
      "resources.client.cpuRequest=5000m",
      "resources.client.cpuLimit=6",
      "resources.client.memoryRequest=28Gi",
      "resources.client.memoryLimit=29Gi",
    ],
    changes: [
      `${DEPLOYMENT}.containers.0.resources.limits.cpu: 1000m -> 6`,
      `${DEPLOYMENT}.containers.0.resources.limits.memory: 1Gi -> 29Gi`,
      `${DEPLOYMENT}.containers.0.resources.requests.cpu: 100m -> 5000m`,
      `${DEPLOYMENT}.containers.0.resources.requests.memory: 256Mi -> 28Gi`,
    ],
  },
  {
    clause: "P14: chain id, gas limit and accounts",
    settings: [
      "genesisBlock.config.chainId=31337",
      "genesisBlock.gasLimit=30000000",
      "genesisBlock.alloc[0].address=0x1111111111111111111111111111111111111111",
      "genesisBlock.alloc[1].address=0x2222222222222222222222222222222222222222",
      "genesisBlock.alloc[1].balance=1000",
    ],
    changes: [
      `${WANTED}.genesis.chainId: 5000 -> 31337`,
      `${WANTED}.genesis.gasLimit: 60000000 -> 30000000`,
      `${WANTED}.genesis.alloc.0.address: - -> 0x1111111111111111111111111111111111111111`,
      `${WANTED}.genesis.alloc.0.balance: - -> 9223372036854775807`,
      `${WANTED}.genesis.alloc.1.address: - -> 0x2222222222222222222222222222222222222222`,
      `${WANTED}.genesis.alloc.1.balance: - -> 1000`,
    ],
  },
  {
    clause: "P14b: the image",
    settings: ["image.repository=team/quorate", "image.tag=1.20", "image.pullPolicy=Always"],
    changes: IMAGES.flatMap((place) => [
      `${place}: registry.example/quorate:0.1.0 -> registry.example/team/quorate:1.20`,
      `${place}PullPolicy: IfNotPresent -> Always`,
    ]),
  },
  {
    clause: "P14b: the name of the blockchain",
    settings: ["global.blockchainId=ledger"],
    changes: [`${WANTED}.blockchainId: demo -> ledger`],
  },
  {
    clause: "P14b: sizes of volumes",
    settings: ["storage.replica.size=20Gi", "storage.client.size=30Gi"],
    changes: [
      `${REPLICA_CLAIM}.resources.requests.storage: 10Gi -> 20Gi`,
      `${CLIENT_CLAIM}.resources.requests.storage: 10Gi -> 30Gi`,
    ],
  },
  {
    clause: "P14b: the service",
    settings: [
      "service.type=NodePort",
      "service.nodePort=30545",
      "service.port=80",
      "service.annotations.team=ledger",
    ],
    changes: [
      "Service/client-0-ethrpc.metadata.annotations.team: - -> ledger",
      "Service/client-0-ethrpc.spec.ports.0.nodePort: - -> 30545",
      "Service/client-0-ethrpc.spec.ports.0.port: 8545 -> 80",
      "Service/client-0-ethrpc.spec.type: LoadBalancer -> NodePort",
      ...OPENED,
      "Pod/demo-test.spec.containers.0.args.2: http://client-0-ethrpc:8545 -> http://client-0-ethrpc:80",
    ],
  },
  {
    clause: "P14b: who may come in through the load balancer",
    settings: ["service.loadBalancerSourceRanges={10.0.0.0/8}"],
    changes: [
      "Service/client-0-ethrpc.spec.loadBalancerSourceRanges.0: - -> 10.0.0.0/8",
      ...OPENED,
    ],
  },
  {
    clause: "P14b: an ingress",
    settings: ["ingress.enabled=true", "ingress.host=ethrpc.example"],
    changes: [
      /^Ingress\/demo-ethrpc\./,
      `${CONFIG}.rpc.auth.signInDomains.7: - -> ethrpc.example:*`,
    ],
  },
  {
    clause: "P14b: keys that exist",
    settings: ["keys.existingSecret=ours"],
    changes: [
      `${DEPLOYMENT}.volumes.2.secret.secretName: demo-keys -> ours`,
      `${REPLICA}.volumes.2.secret.secretName: demo-keys -> ours`,
      "Role/demo-init.rules.0.resourceNames.0: demo-keys -> ours",
      `${WANTED}.secrets.keys: demo-keys -> ours`,
      `${WANTED}.makesKeys: true -> false`,
    ],
  },
  {
    clause: "P14b: pull secrets that exist, beside the one of the credentials",
    settings: ["global.imagePullSecrets={mine}"],
    changes: [/\.imagePullSecrets\.1\.name: - -> mine$/],
  },
  {
    clause: "P14b: placement",
    settings: ["replica.tolerations[0].key=ledger", "replica.nodeSelector.disk=fast"],
    changes: [
      `${REPLICA}.nodeSelector.disk: - -> fast`,
      `${REPLICA}.tolerations.0.key: - -> ledger`,
    ],
  },
  {
    clause: "P14b: more volumes",
    settings: [
      "client.extraVolumes[0].name=tls",
      "client.extraVolumes[0].secret.secretName=ethrpc-tls",
      "client.extraVolumeMounts[0].name=tls",
      "client.extraVolumeMounts[0].mountPath=/run/quorate/tls",
    ],
    changes: [
      `${DEPLOYMENT}.volumes.5.name: - -> tls`,
      `${DEPLOYMENT}.volumes.5.secret.secretName: - -> ethrpc-tls`,
      `${DEPLOYMENT}.containers.0.volumeMounts.5.name: - -> tls`,
      `${DEPLOYMENT}.containers.0.volumeMounts.5.mountPath: - -> /run/quorate/tls`,
    ],
  },
  {
    clause: "P14b: limits of ethrpc",
    settings: ["rpc.limits.bodyBytesMax=1048576", "rpc.allowedOrigins={https://app.example}"],
    changes: [
      `ConfigMap/${CLIENT}.data.client.json.rpc.bodyBytesMax: - -> 1048576`,
      `ConfigMap/${CLIENT}.data.client.json.rpc.allowedOrigins.0: - -> https://app.example`,
    ],
  },
  {
    clause: "P14c: limits of calls",
    settings: ["calls.timeMaxMs=2000"],
    changes: [`ConfigMap/${CLIENT}.data.client.json.calls.timeMaxMs: - -> 2000`],
  },
];

describe("parameters of the chart", { skip: !HAS_KUBERNETES_TOOLS && "no Helm here" }, () => {
  let standard: readonly Manifest[] | undefined;

  for (const { clause, settings, changes } of CASES) {
    it(`${clause}: changes exactly what it should`, () => {
      standard ??= renderChart(CREDENTIALS);
      const found = differences(standard, renderChart([...CREDENTIALS, ...settings]));
      const isExpected = (line: string): boolean =>
        changes.some((change) =>
          typeof change === "string" ? change === line : change.test(line),
        );
      assert.deepEqual(
        found.filter((line) => !isExpected(line)),
        [],
        "nothing else changes",
      );
      for (const change of changes) {
        const isThere = found.some((line) =>
          typeof change === "string" ? change === line : change.test(line),
        );
        assert.ok(isThere, `${String(change)} is missing in\n${found.join("\n")}`);
      }
    });
  }

  it("P15: without logging, nothing about logs is rendered", () => {
    const text = JSON.stringify(renderChart(CREDENTIALS));
    assert.doesNotMatch(text, /QUORATE_LOG_|logstash|log-endpoints/);
  });

  it("P15: enabled alone sends to the default endpoint", () => {
    const text = JSON.stringify(renderChart([...CREDENTIALS, "logManagement.enabled=true"]));
    assert.match(text, /http:\/\/logstash-logstash\.default\.svc\.cluster\.local:8080/);
  });

  it("P3: a number in a file is the text that it looks like", () => {
    const manifests = renderChart(CREDENTIALS.slice(0, 2), {
      args: ["--set-json", "global.imageCredentials.password=123456789"],
    });
    assert.ok(flattenSecrets(manifests).includes("123456789"));
  });
});

function flattenSecrets(manifests: readonly Manifest[]): readonly string[] {
  return [...flatten(manifests.filter(({ kind }) => kind === "Secret")).values()];
}
