/** `npm run contracts`: rebuilds what is checked in, so that nothing else needs a compiler. */
import { writeFileSync } from "node:fs";
import path from "node:path";
import { exitCodeOf, parseScript } from "../test/support/script-arguments.ts";
import { compilePermissions, renderPermissions } from "./compile.ts";

const ROOT = path.join(import.meta.dirname, "..");

process.exitCode = await exitCodeOf((args) => {
  parseScript("contracts", {}, args);
  for (const file of renderPermissions(compilePermissions())) {
    writeFileSync(path.join(ROOT, file.path), file.text);
    process.stdout.write(`${file.path}\n`);
  }
  return 0;
});
