import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { globSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { describe, it } from "node:test";
import { pathToFileURL } from "node:url";

const ROOT = path.join(import.meta.dirname, "../../..");
const dockerfile = readFileSync(path.join(ROOT, "deploy/image/Dockerfile"), "utf8");

describe("the image", () => {
  it("runs as a user that Kubernetes can see is not root", () => {
    const users = [...dockerfile.matchAll(/^USER (\d+):(\d+)$/gm)];
    assert.equal(users.length, 1);
    assert.ok(users[0]?.slice(1).every((id) => Number(id) >= 10_000));
    const chart = readFileSync(path.join(ROOT, "deploy/chart/values.yaml"), "utf8");
    assert.match(chart, new RegExp(`runAsUser: ${users[0]?.[1] ?? ""}\\n`));
  });

  it("is built of named parts alone: the context lets nothing else in", () => {
    const ignored = readFileSync(path.join(ROOT, ".dockerignore"), "utf8").split("\n");
    const rules = ignored.filter((line) => line !== "" && !line.startsWith("#"));
    assert.equal(rules[0], "*");
    const admitted = rules.filter((rule) => rule.startsWith("!")).map((rule) => rule.slice(1));
    const copied = [...dockerfile.matchAll(/^COPY (?!--from)(.+) \S+$/gm)]
      .flatMap((match) => match[1]?.split(" ") ?? [])
      .map((name) => name.replace(/\/$/, ""));
    assert.deepEqual([...admitted].sort(), [...copied].sort());
  });

  it("holds the program compiled as Node.js runs it, with all that is no TypeScript", async () => {
    const target = mkdtempSync(path.join(tmpdir(), "quorate-dist-"));
    try {
      const script = path.join(ROOT, "deploy/image/strip-types.js");
      const source = path.join(ROOT, "src");
      execFileSync(process.execPath, ["--no-warnings", script, source, target]);
      const expected = globSync("**/*.*", { cwd: source }).map((name) => name.replace(/ts$/, "js"));
      assert.deepEqual(globSync("**/*.*", { cwd: target }).sort(), expected.sort());
      for (const name of globSync("**/*.js", { cwd: target })) {
        const text = readFileSync(path.join(target, name), "utf8");
        assert.doesNotMatch(text, /(from|import\() ?"\.{1,2}\/[^"]*\.ts"/, name);
      }
      const url = pathToFileURL(path.join(target, "chain/genesis-timestamp.js")).href;
      const { parseTimestamp } = (await import(url)) as {
        readonly parseTimestamp: (text: string) => { readonly value: bigint };
      };
      assert.equal(parseTimestamp("2022-12-02 00:01:00").value, 1_669_939_260n);
    } finally {
      rmSync(target, { recursive: true });
    }
  });
});
