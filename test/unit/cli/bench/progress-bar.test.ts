import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createProgressBar } from "../../../../src/cli/bench/progress-bar.ts";

describe("the progress of a benchmark", () => {
  it("is a bar that is drawn over on a terminal, and leaves nothing behind", () => {
    let written = "";
    let nowMs = 0;
    const bar = createProgressBar(
      (text) => (written += text),
      { isTerminal: true, title: "load" },
      () => nowMs,
    );
    bar.show(0.25, "10 final");
    bar.show(0.26, "11 final");
    nowMs = 200;
    bar.show(0.5, "20 final");
    bar.end();
    assert.equal(
      written,
      "\r\u001b[Kload [######..................] 25%  10 final" +
        "\r\u001b[Kload [############............] 50%  20 final" +
        "\r\u001b[K",
    );
  });

  it("is one line for each tenth elsewhere", () => {
    const lines: string[] = [];
    const settings = { isTerminal: false, title: "load" };
    const bar = createProgressBar((text) => lines.push(text), settings);
    for (let share = 0; share <= 100; share++) bar.show(share / 100, "x");
    bar.end();
    assert.equal(lines.length, 10);
    assert.equal(lines[0], "load 10%  x\n");
    assert.equal(lines[9], "load100%  x\n");
  });
});
