import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { describe, it } from "node:test";
import { parse } from "yaml";
import { LOG_STACK_PODS } from "../../../src/cli/doctor/log-stack-pods.ts";
import { parseResourceQuantity } from "../../../src/cli/doctor/quantity.ts";

const FOLDER = path.join(import.meta.dirname, "../../../deploy/logging");

function load(name: string): unknown {
  return parse(readFileSync(path.join(FOLDER, name), "utf8"));
}

describe("values of the log stack (SPEC L2, L6)", () => {
  it("give the store what a laptop has", () => {
    assert.deepEqual(load("elasticsearch.yaml"), {
      antiAffinity: "soft",
      esJavaOpts: "-Xmx256m -Xms256m",
      resources: {
        requests: { cpu: "100m", memory: "1024M" },
        limits: { cpu: "1000m", memory: "1024M" },
      },
      volumeClaimTemplate: {
        accessModes: ["ReadWriteOnce"],
        storageClassName: "standard",
        resources: { requests: { storage: "200M" } },
      },
    });
  });

  it("leave the viewer as it comes", () => {
    assert.deepEqual(load("kibana.yaml"), {});
  });

  it("put the steps of the pipeline in their order", () => {
    const values = load("logstash.yaml") as {
      persistence: unknown;
      service: unknown;
      logstashConfig: Record<string, string>;
      logstashPipeline: Record<string, string>;
    };
    assert.deepEqual(values.persistence, { enabled: true });
    assert.deepEqual(values.service, {
      type: "ClusterIP",
      ports: [{ name: "http", port: 8080, protocol: "TCP", targetPort: 8080 }],
    });
    const config = values.logstashConfig["logstash.yml"] ?? "";
    assert.match(config, /http\.host: "0\.0\.0\.0"/);
    assert.match(config, /xpack\.monitoring\.enabled: false/);
    const pipeline = values.logstashPipeline["logstash.conf"] ?? "";
    const steps = [
      /http \{\s+id => "vmbc-logs"\s+host => "0\.0\.0\.0"\s+port => 8080/,
      /split \{/,
      /json \{\s+source => "message"/,
      /date \{\s+match => \["logtime", "yyyy-MM-dd'T'HH:mm:ss','SSS','Z",/,
      /"yyyy-MM-dd HH:mm:ss','SSS"\]\s+\}/,
      /remove_field => \["host", "headers", "logtime"\]/,
      /elasticsearch \{\s+hosts => \["http:\/\/elasticsearch-master\.default\.svc\.cluster\.local:9200"\]\s+data_stream => true/,
    ];
    const places = steps.map((step) => pipeline.search(step));
    for (const [index, place] of places.entries()) assert.notEqual(place, -1, String(steps[index]));
    assert.deepEqual(
      places,
      [...places].sort((a, b) => a - b),
      "in this order",
    );
  });

  it("are installed with one storage class for Elasticsearch and Logstash", () => {
    const tools = mkdtempSync(path.join(tmpdir(), "quorate-helm-"));
    try {
      // A helm that says what it was asked for.
      writeFileSync(path.join(tools, "helm"), '#!/bin/sh\necho "helm $*"\n', { mode: 0o755 });
      const env = { ...process.env, PATH: `${tools}:${process.env["PATH"] ?? ""}` };
      const install = (...args: string[]): ReturnType<typeof spawnSync> =>
        spawnSync(path.join(FOLDER, "install.sh"), args, { env, encoding: "utf8" });
      const flag = "--set volumeClaimTemplate.storageClassName=";
      for (const [args, wanted] of [
        [[], "standard"],
        [["gp2"], "gp2"],
      ] as const) {
        const said = String(install(...args).stdout);
        const classes = said.split("\n").filter((line) => line.includes(flag));
        assert.equal(classes.length, 2, said);
        assert.ok(classes.every((line) => line.endsWith(flag + wanted), said));
      }
      assert.equal(install("--help").status, 2);
      const removed = spawnSync(path.join(FOLDER, "uninstall.sh"), { env, encoding: "utf8" });
      assert.match(removed.stdout, /helm uninstall logstash kibana elasticsearch/);
    } finally {
      rmSync(tools, { recursive: true });
    }
  });

  it("ask for what the doctor counts with", () => {
    const { resources } = load("elasticsearch.yaml") as {
      resources: { requests: { cpu: string; memory: string } };
    };
    const store = LOG_STACK_PODS.filter(({ name }) => name.startsWith("elasticsearch"));
    assert.equal(store.length, 3, "the chart's default");
    for (const { wants } of store) {
      assert.equal(wants.cpu, parseResourceQuantity(resources.requests.cpu));
      assert.equal(wants.memory, parseResourceQuantity(resources.requests.memory));
    }
  });

  it("install all three charts of one version", () => {
    const script = readFileSync(path.join(FOLDER, "install.sh"), "utf8");
    assert.match(script, /version=7\.17\.3/);
    for (const chart of ["elasticsearch", "kibana", "logstash"]) {
      const line = `helm install ${chart} elastic/${chart} --version "$version"`;
      assert.ok(script.includes(line), chart);
    }
  });
});
