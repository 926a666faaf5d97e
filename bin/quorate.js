#!/usr/bin/env node
// Runs on any Node.js: the program itself needs a newer one than many machines have, and npm has put
// that beside it. Only syntax that old releases understand stands in this file.
import { spawn } from "child_process";
import { existsSync } from "fs";
import * as nodeModule from "module";
import path from "path";
import { fileURLToPath, pathToFileURL } from "url";

const NODE_MAJOR_MIN = 24;
const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"];
const PINNED = ["linux-x64", "linux-arm64", "darwin-x64", "bin-darwin-arm64"];

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));

/** The image and the published package hold compiled JavaScript; the repository runs its sources. */
function programPath() {
  const compiled = path.join(root, "dist", "cli", "main.js");
  return existsSync(compiled) ? compiled : path.join(root, "src", "cli", "main.ts");
}

/** The Node.js that npm installed for this machine, in this package or beside it. */
function pinnedNode() {
  const require = nodeModule.createRequire(import.meta.url);
  const suffix = `${process.platform}-${process.arch}`;
  for (const name of PINNED.filter((text) => text.endsWith(suffix))) {
    try {
      const file = path.join(
        path.dirname(require.resolve(`node-${name}/package.json`)),
        "bin/node",
      );
      if (existsSync(file)) return file;
    } catch {
      // Not installed here.
    }
  }
  return undefined;
}

function runWith(node) {
  const child = spawn(node, [fileURLToPath(import.meta.url), ...process.argv.slice(2)], {
    stdio: "inherit",
  });
  for (const signal of SIGNALS) process.on(signal, () => child.kill(signal));
  child.on("error", (error) => {
    process.stderr.write(`error NODE_TOO_OLD: ${node} does not run: ${error.message}\n`);
    process.exit(1);
  });
  child.on("exit", (code, signal) => process.exit(signal === null ? code : 1));
}

if (Number(process.versions.node.split(".")[0]) >= NODE_MAJOR_MIN) {
  // Compiled code is kept between starts: it halves the time that five processes need to load.
  nodeModule.enableCompileCache(path.join(root, "node_modules", ".cache", "quorate"));
  import(pathToFileURL(programPath()).href).then(({ main }) => main(process.argv.slice(2)));
} else {
  const node = pinnedNode();
  if (node === undefined) {
    process.stderr.write(
      `error NODE_TOO_OLD: quorate needs Node.js ${NODE_MAJOR_MIN} or newer and this is ` +
        `${process.version}. Run "npm ci" without --omit=optional, which brings one along, ` +
        `or install a newer Node.js.\n`,
    );
    process.exit(1);
  }
  runWith(node);
}
