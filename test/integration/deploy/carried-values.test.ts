/** Values files of the product that this one takes the place of (docs/migrate.md). */
import assert from "node:assert/strict";
import path from "node:path";
import { describe, it } from "node:test";
import { HAS_KUBERNETES_TOOLS } from "../../support/processes/kubernetes-tools.ts";
import {
  CHART,
  CREDENTIALS,
  differences,
  flatten,
  renderChart,
  renderNotes,
  type Helm,
} from "../../support/rendered-chart.ts";

const HELMS: readonly Helm[] = ["helm-3", "helm-4"];
const FOLDER = path.join(import.meta.dirname, "../../vectors/carried");
const PLAIN = ["-f", path.join(FOLDER, "values.yaml")];
const LOGGING = [...PLAIN, "-f", path.join(FOLDER, "values-logging.yaml")];
const WANTED = "ConfigMap/demo-init.data.wanted.json";
const REPLICA = "StatefulSet/demo-replica.spec";
const CLAIM = `${REPLICA}.volumeClaimTemplates.0.spec`;
const IMAGE = `${REPLICA}.template.spec.containers.0.image`;
const ADMIN = "0xfb389874fb4e03182a7358275eaf78008775c7ed";

type Alias = {
  readonly name: string;
  readonly setting: string;
  readonly place: string;
  readonly value: string;
  readonly note: RegExp;
};

const ALIASES: readonly Alias[] = [
  {
    name: "permissioning.ethPermissioningWriteEnabled",
    setting: "permissioning.ethPermissioningWriteEnabled=true",
    place: `${WANTED}.genesis.isWritePermissioned`,
    value: "true",
    note: /taken as global\.ethPermissioningWriteEnabled/,
  },
  {
    name: "permissioning.ethPermissioningReadEnabled",
    setting: "permissioning.ethPermissioningReadEnabled=true",
    place: `${WANTED}.genesis.isReadPermissioned`,
    value: "true",
    note: /taken as global\.ethPermissioningReadEnabled/,
  },
  {
    name: "global.image.tag",
    setting: "global.image.tag=0.2.0",
    place: IMAGE,
    value: "registry.example/quorate:0.2.0",
    note: /global\.image\.tag is taken as image\.tag/,
  },
  {
    name: "global.image.tag of the old product",
    setting: "global.image.tag=0.0.0.0.7849",
    place: IMAGE,
    value: "registry.example/quorate:0.1.0",
    note: /0\.0\.0\.0\.7849 is a build of the old product .* choose another by image\.tag/,
  },
  {
    name: "global.imageCredentials.email",
    setting: "global.imageCredentials.email=ops@example.com",
    place: "Secret/demo-registry.data..dockerconfigjson.auths.registry.example.email",
    value: "ops@example.com",
    note: /imageCredentials\.email went into the pull secret/,
  },
  {
    name: "resources.replica.storageRequest",
    setting: "resources.replica.storageRequest=8Gi",
    place: `${CLAIM}.resources.requests.storage`,
    value: "8Gi",
    note: /taken as storage\.replica\.size/,
  },
  {
    name: "storageClassNames.replica",
    setting: "storageClassNames.replica.replica0=fast,storageClassNames.replica.replica1=fast",
    place: `${CLAIM}.storageClassName`,
    value: "fast",
    note: /One class for all volumes is global\.storageClass/,
  },
  {
    name: "genesisBlock.alloc as plain addresses",
    setting: "genesisBlock.alloc={90F79bf6EB2c4f870365E785982E1f101E93b906}",
    place: `${WANTED}.genesis.alloc.0.address`,
    value: "0x90F79bf6EB2c4f870365E785982E1f101E93b906",
    note: /plain addresses: each is funded and administers permissions/,
  },
  {
    name: "logManagement.endpoint_1.userName",
    setting: "logManagement.endpoint_1.userName=sender",
    place: "Secret/demo-log-endpoints.data.endpoint_1.username",
    value: "sender",
    note: /Logs are on: an endpoint is given/,
  },
];

const REFUSALS: readonly (readonly [setting: string, message: RegExp])[] = [
  ["Privacy.privacyEnabled=true", /there are no private transactions here/],
  ["privacy.privacyEnabled=true", /there are no private transactions here/],
  ["filteredPrivacy.ethFilteredPrivacyEnabled=true", /there are no private transactions here/],
  ["genesisBlock.uttVirtualContractAddress=0x11", /private transactions, which do not exist/],
  ["replicaCheckpointBackup.enabled=true", /fetches the chain from the others/],
  ["global.maintenanceModeEnabled=true", /there is no maintenance mode here/],
  ["global.config.configOverride=x", /nodes make theirs of their keys/],
  ["serviceAccount.create=true", /never talk to Kubernetes/],
  ["serviceAccount.name=mine", /never talk to Kubernetes/],
  ["genesisBlock.permissioningContractAddress=0x12", /is at 0x0071756F72.* in every network/],
  ["genesisBlock.permissioningContractBin=6080", /is a contract of your own/],
  [
    "storageClassNames.replica.replica0=a,storageClassNames.replica.replica1=b",
    /different classes \(a, b\)\. All replicas use one here: set global\.storageClass/,
  ],
  ["genesisBlock.alloc={0x12}", /"0x12" is no address/],
];

describe("values of the old product", { skip: !HAS_KUBERNETES_TOOLS && "no Helm here" }, () => {
  for (const helm of HELMS) {
    it(`its values file is rendered by ${helm}, and means what it meant`, () => {
      const values = flatten(renderChart(CREDENTIALS, { helm, args: PLAIN }));
      assert.equal(values.get(IMAGE), "registry.example/quorate:0.1.0");
      assert.equal(values.get(`${CLAIM}.resources.requests.storage`), "8Gi");
      assert.equal(values.get(`${CLAIM}.storageClassName`), "standard");
      assert.equal(values.get(`${WANTED}.genesis.alloc.0.address`), ADMIN);
      assert.equal(values.get(`${WANTED}.genesis.alloc.0.balance`), String(2n ** 63n - 1n));
      assert.equal(values.get(`${WANTED}.blockchainId`), "746d220e-1eb9-4d15-ae1b-a224cee8d396");
      const resources = `${REPLICA}.template.spec.containers.0.resources`;
      assert.equal(values.get(`${resources}.limits.memory`), "2000Mi");
      assert.doesNotMatch([...values.keys()].join(), /QUORATE_LOG/);
    });

    for (const [setting, message] of REFUSALS) {
      it(`${helm} refuses ${setting} with a sentence`, () => {
        assert.throws(() => renderChart([...CREDENTIALS, setting], { helm }), { message });
      });
    }
  }

  it("its values file with logging sends logs", () => {
    const text = JSON.stringify(renderChart(CREDENTIALS, { args: LOGGING }));
    assert.match(text, /http:\/\/logstash-logstash\.default\.svc\.cluster\.local:8080/);
  });

  it("its values file is told name by name in NOTES", () => {
    const notes = renderNotes(CREDENTIALS, PLAIN);
    for (const line of [
      /permissioning\.ethPermissioningWriteEnabled is taken as global\./,
      /global\.image\.tag 0\.0\.0\.0\.7849 is a build of the old product/,
      /resources\.replica\.storageRequest is taken as storage\.replica\.size/,
      /genesisBlock\.alloc names plain addresses/,
      /WARNING: genesisBlock\.alloc names 0xFB389874.* private key is published/,
      /genesisBlock\.permissioningContract\* was not used/,
      /logManagement holds a placeholder/,
      /not used: concord, clientservice, ethrpc, fluentd, .*global\.sessionIdentifier/,
    ]) {
      assert.match(notes, line);
    }
  });

  it("NOTES says nothing about old names where there are none", () => {
    assert.doesNotMatch(renderNotes(CREDENTIALS), /old product/);
  });

  for (const { name, setting, place, value, note } of ALIASES) {
    it(`${name} is taken, and NOTES names the new word`, () => {
      const values = flatten(renderChart([...CREDENTIALS, setting]));
      assert.equal(values.get(place), value);
      assert.match(renderNotes([...CREDENTIALS, setting]), note);
    });
  }

  it("WebSocket on a port of its own is a second port of the service", () => {
    const found = differences(
      renderChart(CREDENTIALS),
      renderChart([...CREDENTIALS, "service.websocketPort=9000"]),
    );
    assert.deepEqual(found, [
      "Service/client-0-ethrpc.spec.ports.1.name: - -> websocket",
      "Service/client-0-ethrpc.spec.ports.1.port: - -> 9000",
      "Service/client-0-ethrpc.spec.ports.1.targetPort: - -> ethrpc",
    ]);
  });

  it("an address that YAML takes for a number is refused with the remedy", () => {
    const args = ["--set-json", "genesisBlock.alloc=[1234567890]"];
    assert.throws(() => renderChart(CREDENTIALS, { args }), {
      message: /write addresses in quotes/,
    });
  });

  it("the presets of this chart are not mistaken for old values", () => {
    for (const preset of ["values-minikube.yaml", "values-eks.yaml", "values-logging.yaml"]) {
      const notes = renderNotes(CREDENTIALS, ["-f", path.join(CHART, preset)]);
      assert.doesNotMatch(notes, /old product/, preset);
    }
  });
});
