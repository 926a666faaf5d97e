/** `npm run contracts`: rebuilds what is checked in, so that nothing else needs a compiler. */
import { writeFileSync } from "node:fs";
import path from "node:path";
import { compilePermissions, renderPermissions } from "./compile.ts";

const ROOT = path.join(import.meta.dirname, "..");

for (const file of renderPermissions(compilePermissions())) {
  writeFileSync(path.join(ROOT, file.path), file.text);
  process.stdout.write(`${file.path}\n`);
}
