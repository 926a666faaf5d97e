/**
 * Plain technical English in comments of src and in the documents: a reader must find things by the
 * words that the field uses. The list is short on purpose: words that were used here before and
 * that hide who acts, or for which the field has a name.
 */
import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import path from "node:path";
import { describe, it } from "node:test";

const ROOT = path.join(import.meta.dirname, "../..");

const BANNED: readonly { readonly word: RegExp; readonly instead: string }[] = [
  { word: /\b(nobody|whoever)\b/i, instead: "name the subject, or use the passive" },
  { word: /\bliars?\b/i, instead: "Byzantine replica" },
  { word: /\bmend(s|ed|ing)?\b/i, instead: "fix, repair or correct" },
  { word: /\bmoody\b/i, instead: "faulty" },
  { word: /\brules of the house\b/i, instead: "repository rules" },
  { word: /\b(is|are) told\b/i, instead: "is notified, receives, or is reported" },
];

describe("words", () => {
  it("comments of src use plain technical English", () => {
    for (const name of globSync("src/**/*.{ts,js,css}", { cwd: ROOT }).sort()) {
      for (const comment of commentsOf(read(name))) checkWords(name, comment);
    }
  });

  it("documents use plain technical English", () => {
    const documents = globSync(["*.md", "docs/**/*.md", "deploy/**/*.{md,txt}"], { cwd: ROOT });
    for (const name of documents.sort()) {
      checkWords(name, oneLine(read(name)));
    }
  });

  it("a banned word is found across a line break and in every form of comment", () => {
    const text = "const a = 1; // mended\n/**\n * The caller is\n * told so.\n */\n/* a liar */";
    const found = commentsOf(text).filter((comment) =>
      BANNED.some(({ word }) => word.test(comment)),
    );
    assert.equal(found.length, 3);
  });
});

function checkWords(name: string, text: string): void {
  for (const { word, instead } of BANNED) {
    const found = word.exec(text);
    if (found === null) continue;
    const context = text.slice(Math.max(0, found.index - 40), found.index + 40);
    assert.fail(`${name}: "${found[0]}" in "…${context}…"; instead: ${instead}`);
  }
}

/** Blocks of comment lines as one line each. A `//` inside a text counts too, which does no harm. */
function commentsOf(text: string): readonly string[] {
  const blocks = text.match(/\/\*[\s\S]*?\*\/|(?:(?<!:)\/\/[^\n]*\n?[ \t]*)+/g) ?? [];
  return blocks.map((block) => oneLine(block.replace(/^\s*(\/\*\*?|\*\/?|\/\/)/gm, " ")));
}

function oneLine(text: string): string {
  return text.replace(/\s+/g, " ");
}

function read(name: string): string {
  return readFileSync(path.join(ROOT, name), "utf8");
}
