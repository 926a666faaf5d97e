#!/usr/bin/env node
// Starts on Node.js 20: the program itself needs a newer one, which is beside it in a clone and is
// fetched once for an installed package. Only syntax that old releases understand stands in bin/.
import { spawn } from "child_process";
import { existsSync } from "fs";
import * as nodeModule from "module";
import path from "path";
import { fileURLToPath, pathToFileURL } from "url";
import { cacheFolder } from "./cache-folder.js";
import { fetchNode, nodeBeside } from "./newer-node.js";

const NODE_MAJOR_MIN = 24;
const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"];

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));

/** A clone runs its sources; the image and the published package hold compiled JavaScript alone. */
function programPath() {
  const source = path.join(root, "src", "cli", "main.ts");
  return existsSync(source) ? source : path.join(root, "dist", "cli", "main.js");
}

function runWith(node) {
  const child = spawn(node, [fileURLToPath(import.meta.url), ...process.argv.slice(2)], {
    stdio: "inherit",
  });
  for (const signal of SIGNALS) process.on(signal, () => child.kill(signal));
  child.on("error", (error) => fail(`${node} does not run: ${error.message}.`));
  child.on("exit", (code, signal) => process.exit(signal === null ? code : 1));
}

function fail(reason) {
  process.stderr.write(`error NODE_TOO_OLD: ${reason} Install Node.js 24 or newer.\n`);
  process.exit(1);
}

if (Number(process.versions.node.split(".")[0]) >= NODE_MAJOR_MIN) {
  // Compiled code is kept between starts: it halves the time that five processes need to load. Child
  // processes and src/local-network/compiled-code.ts take the place from the environment.
  process.env.NODE_COMPILE_CACHE = process.env.NODE_COMPILE_CACHE || cacheFolder(root);
  nodeModule.enableCompileCache(process.env.NODE_COMPILE_CACHE);
  import(pathToFileURL(programPath()).href).then(({ main }) => main(process.argv.slice(2)));
} else {
  try {
    runWith(nodeBeside() || fetchNode(root, cacheFolder(root)));
  } catch (error) {
    const needed = `quorate needs Node.js ${NODE_MAJOR_MIN} or newer and this is ${process.version}.`;
    fail(`${needed} ${error.message}`);
  }
}
