/**
 * `npm run release -- [--dry-run]`: makes everything that a release consists of in `.release/`, with
 * versions that match: npm package, image, chart, list of parts (SBOM) and checksums. It publishes
 * nothing and prints the commands that do. With --dry-run, what stands in the way of a release but
 * not of its files (a changelog without a date, changes that are not committed) is only noted.
 */
import { createHash } from "node:crypto";
import { globSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import path from "node:path";
import {
  HAS_KUBERNETES_TOOLS,
  kubernetesTool,
} from "../../test/support/processes/kubernetes-tools.ts";
import { exitCodeOf, parseScript } from "../../test/support/script-arguments.ts";
import { capture, execute } from "./program.ts";
import { releaseProblems, type ReleaseFiles } from "./release-checks.ts";

const ROOT = path.join(import.meta.dirname, "../..");
const OUT = path.join(ROOT, ".release");
const MEGABYTE = 1_000_000;

const PARAMETERS = { "dry-run": { kind: "flag" } } as const;

function main(args: readonly string[]): number {
  const isDryRun = parseScript("release", PARAMETERS, args)["dry-run"];
  const { version } = JSON.parse(read("package.json")) as { readonly version: string };
  const problems = releaseProblems(version, releaseFiles());
  const isBlocked = report("versions and changelog", problems, isDryRun);
  if (isBlocked) return 1;
  rmSync(OUT, { recursive: true, force: true });
  mkdirSync(OUT);
  execute("npm", ["pack", "--silent", "--pack-destination", OUT], ROOT);
  done(`package quorate-${version}.tgz`);
  const image = buildImage(version);
  const chart = packChart();
  const flags = ["--omit", "dev", "--package-lock-only", "--sbom-format", "cyclonedx"];
  const parts = capture("npm", ["sbom", ...flags], ROOT);
  writeFileSync(path.join(OUT, `quorate-${version}.sbom.cdx.json`), parts);
  done("list of parts (CycloneDX)");
  writeChecksums();
  print(`\nto publish ${version}:`);
  for (const line of publishCommands(version, image, chart)) print(`  ${line}`);
  return 0;
}

/** True where the release must stop. What is wrong whatever the run stops a dry run, too. */
function report(
  what: string,
  { fatal, pending }: ReturnType<typeof releaseProblems>,
  isDryRun: boolean,
): boolean {
  for (const problem of fatal) print(`FAILED ${what}: ${problem}`);
  for (const problem of pending) print(`${isDryRun ? "note" : "FAILED"} ${what}: ${problem}`);
  const isBlocked = fatal.length > 0 || (pending.length > 0 && !isDryRun);
  if (!isBlocked) done(what);
  return isBlocked;
}

function releaseFiles(): ReleaseFiles {
  return {
    lock: read("package-lock.json"),
    chart: read("deploy/chart/Chart.yaml"),
    dockerfile: read("deploy/image/Dockerfile"),
    changelog: read("CHANGELOG.md"),
    changes: capture("git", ["status", "--porcelain"], ROOT),
    tags: capture("git", ["tag", "--list"], ROOT),
  };
}

/** The image's name, or undefined where none can be built. */
function buildImage(version: string): string | undefined {
  const whyNot = whyNoDocker();
  if (whyNot !== undefined) {
    print(`skipped image: ${whyNot}`);
    return undefined;
  }
  const name = `quorate:${version}`;
  const revision = capture("git", ["rev-parse", "HEAD"], ROOT).trim();
  const labels = [`VERSION=${version}`, `REVISION=${revision}`];
  const flags = labels.flatMap((label) => ["--build-arg", label]);
  const file = ["-f", path.join(ROOT, "deploy/image/Dockerfile")];
  execute("docker", ["build", ...flags, ...file, "-t", name, ROOT], ROOT);
  execute("docker", ["save", "-o", path.join(OUT, `quorate-${version}.image.tar`), name], ROOT);
  done(`image ${name}`);
  return name;
}

function whyNoDocker(): string | undefined {
  try {
    capture("docker", ["info"], ROOT);
    return undefined;
  } catch {
    return "docker is missing or its daemon does not run";
  }
}

/** Below a folder of its own: Helm names it as npm names the package. */
function packChart(): string | undefined {
  if (!HAS_KUBERNETES_TOOLS) {
    print("skipped chart: the pinned Helm is for Linux on x86-64");
    return undefined;
  }
  const folder = path.join(OUT, "chart");
  mkdirSync(folder);
  const chart = path.join(ROOT, "deploy/chart");
  execute(kubernetesTool("helm-3"), ["package", chart, "--destination", folder], ROOT);
  const [file] = globSync("chart/*.tgz", { cwd: OUT });
  if (file === undefined) throw new Error("helm made no package");
  done(`chart ${file}`);
  return file;
}

function writeChecksums(): void {
  const files = globSync("**/*", { cwd: OUT })
    .filter((name) => statSync(path.join(OUT, name)).isFile())
    .sort((a, b) => (a < b ? -1 : 1));
  const lines = files.map((name) => {
    const bytes = readFileSync(path.join(OUT, name));
    print(`  .release/${name}, ${(bytes.length / MEGABYTE).toFixed(2)} MB`);
    return `${createHash("sha256").update(bytes).digest("hex")}  ${name}\n`;
  });
  writeFileSync(path.join(OUT, "SHA256SUMS"), lines.join(""));
  done("checksums SHA256SUMS");
}

function publishCommands(
  version: string,
  image: string | undefined,
  chart: string | undefined,
): string[] {
  return [
    `git tag --sign v${version} && git push origin v${version}`,
    `npm publish .release/quorate-${version}.tgz`,
    ...(image === undefined ? [] : [`docker tag ${image} <registry>/${image} && docker push it`]),
    ...(chart === undefined ? [] : [`helm push .release/${chart} oci://<registry>/charts`]),
  ];
}

function read(name: string): string {
  return readFileSync(path.join(ROOT, name), "utf8");
}

function done(what: string): void {
  print(`ok ${what}`);
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

process.exitCode = await exitCodeOf(main);
