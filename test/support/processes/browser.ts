/** A browser of this machine, for tests of pages. */
import { accessSync, constants } from "node:fs";
import path from "node:path";
import { type Browser, chromium } from "playwright-core";

const NAMES = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];

/** Undefined where the machine has none; `QUORATE_TEST_BROWSER` names another. */
export function findBrowser(): string | undefined {
  const given = process.env["QUORATE_TEST_BROWSER"];
  if (given !== undefined) return given;
  const directories = (process.env["PATH"] ?? "").split(path.delimiter);
  const candidates = directories.flatMap((directory) =>
    NAMES.map((name) => path.join(directory, name)),
  );
  return candidates.find(isExecutable);
}

/** What a test prints when it is skipped; undefined where it can run. */
export function browserMissing(): string | undefined {
  if (findBrowser() !== undefined) return undefined;
  return "no browser: install chromium (apt-get install chromium) or set QUORATE_TEST_BROWSER";
}

export function openBrowser(): Promise<Browser> {
  const executablePath = findBrowser();
  if (executablePath === undefined) throw new Error(browserMissing());
  return chromium.launch({ executablePath, args: ["--no-sandbox", "--disable-gpu"] });
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
