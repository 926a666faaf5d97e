import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import path from "node:path";
import { describe, it } from "node:test";
import { parse } from "yaml";
import { createLoggers } from "../../../src/logging/create-logger.ts";
import { createEveryMetric } from "../../support/every-metric.ts";
import { loggedFields } from "../../support/log-fields.ts";

const ROOT = path.join(import.meta.dirname, "../../..");
const PAGE = read("docs/observability.md");

type Rule = { readonly alert: string; readonly expr: string };

describe("docs/observability.md", () => {
  it("lists every field that every entry has, and no other", () => {
    const lines: string[] = [];
    const origin = { blockchainId: "b", serviceName: "s", nodeId: "n" };
    const writer = { write: (text: string): void => void lines.push(text) };
    createLoggers({ level: "info", origin }, { writer })("part").info("text");
    const entry: unknown = JSON.parse(lines[0] ?? "");
    const names = Object.keys(entry as object);
    assert.deepEqual(sorted(tableNames("### Fields of every entry")), sorted(names));
  });

  it("lists every field that a part gives to its logger, and no other", () => {
    assert.deepEqual(sorted(tableNames("### Fields by kind")), sorted(loggedFields()));
  });

  it("lists every metric, and no other", () => {
    const { names } = createEveryMetric();
    assert.deepEqual(sorted(tableNames("## Metrics")), sorted(names));
  });

  it("lists every alert, and no other", () => {
    const alerts = loadRules().map(({ alert }) => alert);
    assert.deepEqual(sorted(tableNames("## Alerts and dashboard")), sorted(alerts));
  });

  it("shows pictures that are there", () => {
    for (const [, file = ""] of PAGE.matchAll(/\]\((images\/[^)]+)\)/g)) {
      assert.equal(globSync(`docs/${file}`, { cwd: ROOT }).length, 1, file);
    }
  });
});

describe("alert rules and dashboard", () => {
  const { names } = createEveryMetric();
  const known = new Set([...names, "up"]);

  it("ask for metrics that exist", () => {
    const dashboard = JSON.parse(read("deploy/chart/dashboard.json")) as {
      panels: { title: string; targets?: { expr: string }[] }[];
    };
    const queries = [
      ...loadRules().map(({ alert, expr }) => [alert, expr] as const),
      ...dashboard.panels.flatMap(({ title, targets = [] }) =>
        targets.map(({ expr }) => [title, expr] as const),
      ),
    ];
    assert.ok(queries.length > 40);
    for (const [where, query] of queries) {
      const found = query.match(/\b(?:quorate|process|nodejs)_[a-z_]+|\bup\b/g) ?? [];
      assert.ok(found.length > 0, where);
      for (const name of found) {
        const base = name.replace(/_(?:bucket|sum|count)$/, "");
        assert.ok(known.has(name) || known.has(base), `${where} asks for ${name}`);
      }
    }
  });
});

/** The first column of the first table below a heading. */
function tableNames(heading: string): string[] {
  const start = PAGE.indexOf(`${heading}\n`);
  assert.notEqual(start, -1, heading);
  const lines = PAGE.slice(start).split("\n").slice(1);
  const first = lines.findIndex((line) => line.startsWith("|"));
  const length = lines.slice(first).findIndex((line) => !line.startsWith("|"));
  const rows = lines.slice(first + 2, length === -1 ? undefined : first + length);
  return rows.map((row) => /^\| `([^`]+)`/.exec(row)?.[1] ?? row);
}

function loadRules(): readonly Rule[] {
  const file = parse(read("deploy/monitoring/alerts.yaml")) as { groups: { rules: Rule[] }[] };
  return file.groups.flatMap(({ rules }) => rules);
}

function read(name: string): string {
  return readFileSync(path.join(ROOT, name), "utf8");
}

function sorted(names: Iterable<string>): string[] {
  return [...names].sort((a, b) => (a < b ? -1 : 1));
}
