/**
 * The package as its users get it: packed, installed into an empty directory with an empty npm
 * cache, and run from there. Also by an old Node.js where the machine has one.
 */
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { lstatSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, describe, it } from "node:test";
import { privateKeyToAccount } from "viem/accounts";
import type { Hex } from "../../src/base/hex.ts";
import { READY_LINE, rpc } from "../support/processes/network-process.ts";

const ROOT = path.join(import.meta.dirname, "../..");
const INSTALLED_MEGABYTES_MAX = 150;
const MEGABYTE = 1_000_000;
const COMMAND_TIMEOUT_MS = 300_000;
const REGISTRY_TIMEOUT_MS = 30_000;
const NODE_MAJOR_MIN = 24;
/** What only developers need. */
const DEVELOPERS_ALONE = /foundry|anvil|cast-|node-(bin-)?(linux|darwin)|kubectl|typescript|eslint/;

type Ended = { readonly code: number | null; readonly stdout: string; readonly stderr: string };

const missing = await whyNoRegistry();
if (missing !== undefined)
  process.stdout.write(`test/e2e/package.test.ts is skipped: ${missing}\n`);

describe("the packed package", { skip: missing ?? false }, () => {
  const place = mkdtempSync(path.join(tmpdir(), "quorate-package-"));
  const installed = path.join(place, "installed");
  const data = path.join(place, "data");
  const program = path.join(installed, "node_modules/.bin/quorate");
  const environment = { XDG_CACHE_HOME: path.join(place, "caches") };
  /** As the user's shell would: the Node.js that `env node` finds is the given one. */
  const quorate = (node: string, ...args: string[]): Promise<Ended> =>
    run(program, args, { ...environment, PATH: withNode(node) }, installed);

  before(async () => {
    mkdirSync(installed);
    const packed = await run("npm", ["pack", "--json", "--pack-destination", place], {}, ROOT);
    assert.equal(packed.code, 0, packed.stderr);
    const tarball = readdirSync(place).find((name) => name.endsWith(".tgz")) ?? "";
    const flags = ["--no-audit", "--no-fund", "--cache", path.join(place, "npm-cache")];
    const install = await run(
      "npm",
      ["install", ...flags, path.join(place, tarball)],
      {},
      installed,
    );
    assert.equal(install.code, 0, install.stderr);
  });

  after(() => rmSync(place, { recursive: true, force: true }));

  it("holds JavaScript without types, no sources and no programs of developers", () => {
    const own = path.join(installed, "node_modules/quorate");
    assert.deepEqual(
      readdirSync(own).filter((name) => name !== "node_modules" && name !== "package.json"),
      ["CHANGELOG.md", "LICENSE", "README.md", "bin", "dist", "docs"],
    );
    const files = readdirSync(own, { recursive: true }).map(String);
    assert.deepEqual(
      files.filter((name) => name.endsWith(".ts")),
      [],
    );
    const packages = readdirSync(path.join(installed, "node_modules"));
    assert.deepEqual(
      packages.filter((name) => DEVELOPERS_ALONE.test(name)),
      [],
    );
  });

  it(`takes less than ${INSTALLED_MEGABYTES_MAX} MB with all its dependencies`, (context) => {
    const megabytes = sizeOf(path.join(installed, "node_modules")) / MEGABYTE;
    context.diagnostic(`${megabytes.toFixed(0)} MB installed`);
    assert.ok(megabytes < INSTALLED_MEGABYTES_MAX, `${megabytes.toFixed(0)} MB`);
  });

  it("runs a network, makes a transaction final and stops", async () => {
    await assertNetwork(quorate, process.execPath, data);
    // Neither into the package, which its user may not own, nor anywhere else.
    assert.ok(readdirSync(path.join(environment.XDG_CACHE_HOME, "quorate")).length > 0);
  });

  const old = oldNode();
  const skip = old === undefined ? `no Node.js below ${NODE_MAJOR_MIN} on this machine` : false;
  it(
    "runs a network on an old Node.js, too, with a newer one that npm fetches once",
    { skip },
    async () => {
      const first = await quorate(old ?? "", "version");
      assert.equal(first.code, 0, first.stderr);
      assert.match(first.stderr, /fetching Node\.js \d+\.\d+\.\d+ with npm, once/);
      assert.match(first.stdout, /Node\.js v2[4-9]/);
      const second = await quorate(old ?? "", "version");
      assert.equal(second.stderr, "", "it is fetched once");
      await assertNetwork(quorate, old ?? "", data);
    },
  );
});

type Summary = {
  readonly rpcUrl: string;
  readonly chainId: string;
  readonly accounts: readonly { readonly address: Hex; readonly privateKey: Hex }[];
};

async function assertNetwork(
  quorate: (node: string, ...args: string[]) => Promise<Ended>,
  node: string,
  data: string,
): Promise<void> {
  const up = await quorate(node, "up", "--detach", "--json", "--port", "0", "--data", data);
  assert.equal(up.code, 0, up.stderr);
  try {
    assert.ok(up.stderr.includes(READY_LINE) || up.stdout.includes(READY_LINE), up.stderr);
    const line = up.stdout.split("\n").find((text) => text.startsWith("{")) ?? "";
    const { rpcUrl, chainId, accounts } = JSON.parse(line) as Summary;
    const [from, to] = accounts;
    assert.ok(from !== undefined && to !== undefined);
    const nonce = Number(await rpc(rpcUrl, "eth_getTransactionCount", [from.address, "latest"]));
    const raw = await privateKeyToAccount(from.privateKey).signTransaction({
      ...{ type: "eip1559", chainId: Number(chainId), nonce, to: to.address, value: 1n },
      ...{ gas: 21_000n, maxFeePerGas: 0n, maxPriorityFeePerGas: 0n },
    });
    const receipt = (await rpc(rpcUrl, "eth_sendRawTransactionSync", [raw])) as {
      readonly status: string;
    };
    assert.equal(receipt.status, "0x1");
  } finally {
    const down = await quorate(node, "down", "--data", data);
    assert.equal(down.code, 0, down.stderr);
  }
}

/** Undefined where packages can be fetched. */
async function whyNoRegistry(): Promise<string | undefined> {
  const flags = ["--fetch-retries=0", `--fetch-timeout=${REGISTRY_TIMEOUT_MS}`];
  const { code } = await run("npm", ["view", "lmdb", "version", ...flags], {}, ROOT);
  return code === 0 ? undefined : "npm's registry cannot be reached";
}

/** Of the machine, not of this repository's dependencies. */
function oldNode(): string | undefined {
  const files = ownFolders().map((folder) => path.join(folder, "node"));
  return files.find((file) => {
    const { status, stdout } = spawnSync(file, ["-p", "process.versions.node"]);
    const major = Number(String(stdout).split(".")[0]);
    return status === 0 && major >= 20 && major < NODE_MAJOR_MIN;
  });
}

/** Where a shell outside of this repository would look for programs. */
function ownFolders(): string[] {
  const folders = (process.env["PATH"] ?? "").split(path.delimiter);
  return folders.filter((folder) => !folder.includes("node_modules"));
}

function withNode(node: string): string {
  return [path.dirname(node), ...ownFolders()].join(path.delimiter);
}

/** In bytes on the disk. */
function sizeOf(folder: string): number {
  const names = readdirSync(folder, { recursive: true }).map(String);
  return names.reduce((sum, name) => sum + lstatSync(path.join(folder, name)).blocks * 512, 0);
}

async function run(
  command: string,
  args: readonly string[],
  environment: Readonly<Record<string, string>>,
  cwd: string,
): Promise<Ended> {
  const child = spawn(command, args, {
    ...{ cwd, env: { ...process.env, ...environment }, timeout: COMMAND_TIMEOUT_MS },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const output = { stdout: "", stderr: "" };
  child.stdout.on("data", (text: Buffer) => (output.stdout += text.toString()));
  child.stderr.on("data", (text: Buffer) => (output.stderr += text.toString()));
  const [code] = (await once(child, "close")) as [number | null];
  return { code, ...output };
}
