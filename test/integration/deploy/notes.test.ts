/** What an operator reads after an install, and the parts of the chart that it points to. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import path from "node:path";
import { describe, it } from "node:test";
import { HAS_KUBERNETES_TOOLS } from "../../support/processes/kubernetes-tools.ts";
import {
  CHART,
  CREDENTIALS,
  find,
  renderChart,
  renderNotes,
} from "../../support/rendered-chart.ts";

const PUBLIC = /WARNING: the service client-0-ethrpc asks for a load balancer without a limit/;

describe("notes of the chart", { skip: !HAS_KUBERNETES_TOOLS && "no Helm here" }, () => {
  it("a load balancer without a limit is warned of, with both ways out", () => {
    // The line that the old product's guide gives for EKS.
    const notes = renderNotes([...CREDENTIALS, "global.storageClassName=gp2"]);
    assert.match(notes, PUBLIC);
    assert.match(notes, /aws-load-balancer-scheme=internal/);
    assert.match(notes, /service\.loadBalancerSourceRanges=\{203\.0\.113\.0\/24\}/);
  });

  it("a load balancer with a limit is not warned of", () => {
    for (const args of [
      ["-f", path.join(CHART, "values-eks.yaml")],
      ["-f", path.join(CHART, "values-minikube.yaml")],
      ["--set", "service.loadBalancerSourceRanges={10.0.0.0/8}"],
      ["--set", "service.type=ClusterIP"],
    ]) {
      assert.doesNotMatch(renderNotes(CREDENTIALS, args), PUBLIC, args.join(" "));
    }
  });

  it("the ways out that NOTES names end the warning", () => {
    const notes = renderNotes(CREDENTIALS);
    const ways = [...notes.matchAll(/--reuse-values ((?:--set(?:-string)? '[^']+' ?)+)/g)];
    assert.equal(ways.length, 2);
    for (const [, flags = ""] of ways) {
      const args = flags.trim().split(" ");
      assert.doesNotMatch(
        renderNotes(
          CREDENTIALS,
          args.map((word) => word.replaceAll("'", "")),
        ),
        PUBLIC,
        flags,
      );
    }
  });

  it("whether logs are sent is said with the reason and the command that changes it", () => {
    const cases: readonly (readonly [string, RegExp, RegExp])[] = [
      ["logManagement.enabled=auto", /Logs are off: no log stack/, /logManagement\.enabled=true/],
      ["logManagement.enabled=true", /Logs are on: logManag/, /logManagement\.enabled=false\n/],
      ["logManagement.enabled=false", /Logs are off: logManag/, /logManagement\.enabled=true/],
      [
        "logManagement.endpoint_1.url=http://logs.example",
        /Logs are on: an endpoint is given\. They are sent to http:\/\/logs\.example:8080\./,
        /logManagement\.enabled=false --set logManagement\.endpoint_1=null/,
      ],
    ];
    for (const [setting, state, command] of cases) {
      const notes = renderNotes([...CREDENTIALS, setting]);
      assert.match(notes, state, setting);
      assert.match(notes, command, setting);
    }
  });

  it("the way to an image that cannot be pulled, and to a new start, is said", () => {
    const notes = renderNotes(CREDENTIALS);
    assert.match(notes, /ImagePullBackOff[\s\S]*registry\.example\/quorate:0\.1\.0/);
    assert.match(notes, /quorate doctor --target cluster --registry registry\.example/);
    assert.match(notes, /start afresh:\n\n {3}kubectl delete pvc --selector \S+=demo/);
    assert.match(notes, /kubectl delete secret demo-keys demo-network demo-admin/);
  });

  it("the dashboard is a ConfigMap with the label that Grafana's sidecar looks for", () => {
    assert.throws(() => find(renderChart(CREDENTIALS), "ConfigMap", "demo-dashboard"));
    const setting = "monitoring.dashboard.enabled=true";
    const made = find(renderChart([...CREDENTIALS, setting]), "ConfigMap", "demo-dashboard");
    const { data, metadata } = made as unknown as {
      readonly data: Readonly<Record<string, string>>;
      readonly metadata: { readonly labels: Readonly<Record<string, string>> };
    };
    assert.equal(metadata.labels["grafana_dashboard"], "1");
    const source = readFileSync(path.join(CHART, "dashboard.json"), "utf8");
    assert.equal(data["quorate.json"], source);
  });

  it("accounts with code and storage reach the init Job as they are", () => {
    const account = {
      address: `0x${"11".repeat(20)}`,
      nonce: 3,
      code: "0x6001",
      storage: { "0x1": "0x2a" },
    };
    const holder = { address: `0x${"22".repeat(20)}`, balance: "5", isAdmin: false };
    const args = ["--set-json", `genesisBlock.alloc=${JSON.stringify([account, holder])}`];
    const { data } = find(renderChart(CREDENTIALS, { args }), "ConfigMap", "demo-init") as {
      readonly data?: Readonly<Record<string, string>>;
    } & ReturnType<typeof find>;
    const { genesis } = JSON.parse(data?.["wanted.json"] ?? "") as { genesis: { alloc: unknown } };
    assert.deepEqual(genesis.alloc, [
      { ...account, nonce: "3", balance: "0", isAdmin: false },
      holder,
    ]);
    // Neither administers anything, so an admin account is made.
    assert.match(renderNotes(CREDENTIALS, args), /The admin account was made at install/);
  });
});
