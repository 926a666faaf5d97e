/**
 * Runs the production code with one rule broken. A test that cannot tell the broken program from
 * the right one proves nothing, so the checkers are run against these as well.
 *
 * A mutant is a textual patch applied while Node loads the file, so that the product itself carries
 * no switches. Register it before anything imports the file; use a process of its own.
 */
import { readFileSync } from "node:fs";
import { registerHooks } from "node:module";
import path from "node:path";
import { pathToFileURL } from "node:url";

const ROOT = path.join(import.meta.dirname, "..", "..");

export type Mutant = {
  readonly name: string;
  /** Path from the root of the project, such as `src/consensus/safety/base-selection.ts`. */
  readonly file: string;
  /** Must occur exactly once in the file. */
  readonly find: string;
  readonly replace: string;
  /** The rule that the mutant breaks, for the report. */
  readonly rule: string;
};

export type Registration = {
  /** Throws unless the patched file was loaded: otherwise the test ran the right program. */
  readonly assertApplied: () => void;
};

/** Patches the file when it is loaded from now on. Throws at once when the snippet is not there. */
export function registerMutant(mutant: Mutant): Registration {
  const file = path.join(ROOT, mutant.file);
  const url = pathToFileURL(file).href;
  applyPatch(mutant, readFileSync(file, "utf8"));
  let isApplied = false;
  registerHooks({
    load(loadedUrl, context, nextLoad) {
      const loaded = nextLoad(loadedUrl, context);
      if (loadedUrl !== url) return loaded;
      isApplied = true;
      return { ...loaded, source: applyPatch(mutant, sourceText(loaded.source)) };
    },
  });
  return {
    assertApplied() {
      if (!isApplied) throw new Error(`mutant ${mutant.name}: ${mutant.file} was never loaded`);
    },
  };
}

/** The text with the snippet replaced. */
export function applyPatch(mutant: Mutant, text: string): string {
  const pieces = text.split(mutant.find);
  if (pieces.length !== 2) {
    const times = pieces.length - 1;
    throw new Error(`mutant ${mutant.name}: snippet found ${times} times in ${mutant.file}`);
  }
  return pieces.join(mutant.replace);
}

function sourceText(source: string | ArrayBuffer | NodeJS.TypedArray | undefined | null): string {
  if (typeof source === "string") return source;
  if (source === undefined || source === null) throw new Error("the module has no source");
  return new TextDecoder().decode(source);
}
