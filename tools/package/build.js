// What `npm pack` runs before it packs (prepack): makes dist of src, because Node.js does not strip
// types below node_modules. With --clean (postpack) it takes dist away again.
//   node tools/package/build.js [--clean]
import { execFileSync } from "node:child_process";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";

const ROOT = path.join(import.meta.dirname, "../..");
const DIST = path.join(ROOT, "dist");
const [flag, ...rest] = process.argv.slice(2);
if (rest.length > 0 || (flag !== undefined && flag !== "--clean")) {
  process.stderr.write("usage: node tools/package/build.js [--clean]\n");
  process.exit(2);
}

rmSync(DIST, { recursive: true, force: true });
if (flag === undefined) {
  const strip = path.join(ROOT, "deploy/image/strip-types.js");
  const flags = ["--disable-warning=ExperimentalWarning"];
  // Not to stdout: `npm pack --json` writes its result there.
  const options = { stdio: ["ignore", process.stderr, process.stderr] };
  execFileSync(process.execPath, [...flags, strip, path.join(ROOT, "src"), DIST], options);
  writeFileSync(path.join(DIST, "pinned-node.json"), `${JSON.stringify(pinnedNode())}\n`);
}

/** Version and hashes of the Node.js that bin/newer-node.js fetches: those that are locked here. */
function pinnedNode() {
  const { packages } = JSON.parse(readFileSync(path.join(ROOT, "package-lock.json"), "utf8"));
  const found = Object.entries(packages).filter(([name]) =>
    /^node_modules\/node-(bin-)?(linux|darwin)-(x64|arm64)$/.test(name),
  );
  const versions = new Set(found.map(([, { version }]) => version));
  if (versions.size !== 1) throw new Error("all pinned Node.js packages must have one version");
  const integrity = Object.fromEntries(
    found.map(([name, entry]) => [path.basename(name), entry.integrity]),
  );
  return { version: [...versions][0], integrity };
}
