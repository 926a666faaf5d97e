/** Packages that a node runs on have a reason in CONTRIBUTING.md; none is for developers. */
import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import path from "node:path";
import { describe, it } from "node:test";

const ROOT = path.join(import.meta.dirname, "../..");
const read = (name: string): string => readFileSync(path.join(ROOT, name), "utf8");
type PackageFile = {
  readonly dependencies: Readonly<Record<string, string>>;
  readonly devDependencies: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
};
const { dependencies, devDependencies, optionalDependencies } = JSON.parse(
  read("package.json"),
) as PackageFile;
const platform = JSON.parse(read("tools/platform/package.json")) as PackageFile;

describe("dependencies", () => {
  it("of a node stand in CONTRIBUTING.md with a reason, and no others do", () => {
    const section = /^## Dependencies\n([\s\S]*?)^What `npm ci`/m.exec(
      read("CONTRIBUTING.md"),
    )?.[1];
    assert.ok(section !== undefined, "the section is there");
    const rows = [...section.matchAll(/^\| `([^`]+)` +\| +(\S.{20,}?) +\|/gm)];
    assert.deepEqual(rows.map(([, name]) => name).sort(), Object.keys(dependencies).sort());
  });

  it("are those that the sources use", () => {
    const sources = globSync("src/**/*.ts", { cwd: ROOT }).map(read);
    const packages = sources.flatMap((text) =>
      Array.from(
        text.matchAll(/^(?:import|export|\}) .*from "(@[^/"]+\/[^/"]+|[^./"][^/"]*)/gm),
        ([, target = ""]) => target,
      ),
    );
    const imported = new Set(packages.filter((target) => !target.startsWith("node:")));
    for (const name of imported) assert.ok(name in dependencies, `${name} is imported`);
    // Addons are loaded by require.
    const unused = Object.keys(dependencies).filter(
      (name) => !sources.some((text) => text.includes(`"${name}"`) || text.includes(`"${name}/`)),
    );
    assert.deepEqual(unused, []);
  });

  it("for one kind of machine are developers' own and do not come with the package", () => {
    assert.equal(optionalDependencies, undefined);
    assert.equal(devDependencies["quorate-platform-tools"], "file:tools/platform");
  });

  it("have exact versions", () => {
    const all = { ...dependencies, ...devDependencies, ...platform.optionalDependencies };
    const loose = Object.entries(all).filter(
      ([, version]) => !/^(\d+\.\d+\.\d+|file:.*)$/.test(version),
    );
    assert.deepEqual(loose, []);
  });
});
