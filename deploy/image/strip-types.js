// Makes JavaScript of the sources as Node.js itself does when it runs them: types become blanks, so
// lines and columns in stack traces are those of the sources. Everything else is copied.
//   node strip-types.js FROM TO
import { copyFileSync, globSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { stripTypeScriptTypes } from "node:module";
import path from "node:path";

const RELATIVE_IMPORT = /((?:from|import\(|import)\s*")(\.{1,2}\/[^"]+)\.ts"/g;

const [from, to] = process.argv.slice(2);
let count = 0;
for (const name of globSync("**/*", { cwd: from })) {
  const source = path.join(from, name);
  if (!statSync(source).isFile()) continue;
  const target = path.join(to, name);
  mkdirSync(path.dirname(target), { recursive: true });
  if (!name.endsWith(".ts")) {
    copyFileSync(source, target);
    continue;
  }
  const stripped = stripTypeScriptTypes(readFileSync(source, "utf8"));
  writeFileSync(target.replace(/\.ts$/, ".js"), stripped.replace(RELATIVE_IMPORT, '$1$2.js"'));
  count += 1;
}
console.log(`${count} files compiled to ${to}`);
