// Takes out of node_modules what a running node never opens: binaries for other machines, sources
// of addons, types, maps and documents.
//   node prune-modules.js node_modules
import { globSync, rmSync } from "node:fs";
import path from "node:path";

const [root] = process.argv.slice(2);
const ours = `${process.platform}-${process.arch}`;
const isGlibc = process.report.getReport().header.glibcVersionRuntime !== undefined;

const prebuilt = globSync("**/prebuilds/*", { cwd: root }).filter((name) => {
  const machine = path.basename(name);
  return machine !== ours && !machine.split("+").includes(ours);
});
const otherLibc = isGlibc ? "musl" : "glibc";
const prebuiltForOthers = globSync([`**/*.${otherLibc}.node`, "**/*.abi*.node"], { cwd: root });
const lmdb = globSync("@lmdb/lmdb-*", { cwd: root }).filter((name) => !name.endsWith(ours));
const sources = globSync(
  ["**/*.{d.ts,d.cts,d.mts,map,md,markdown}", "**/{src/secp256k1,dependencies,deps}"],
  { cwd: root },
).filter((name) => !/LICEN[CS]E/i.test(name));
for (const name of [...prebuilt, ...prebuiltForOthers, ...lmdb, ...sources]) {
  rmSync(path.join(root, name), { recursive: true, force: true });
}
