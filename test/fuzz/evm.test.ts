import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { describe, it } from "node:test";

import { compareCase } from "./evm/compare.ts";
import type { FuzzCase } from "./evm/fuzz-case.ts";
import { fuzzEvm, VECTORS_FOLDER } from "./evm/fuzz-evm.ts";

const SMOKE_SEED = 20_260_101;
const SMOKE_CASES = 120;

type Vector = { readonly seed: number; readonly case: FuzzCase };

describe("differential fuzz of the EVM", () => {
  it("agrees with @ethereumjs/vm on random programs and transactions of a fixed seed", async () => {
    const bounds = { seed: SMOKE_SEED, seconds: 20, casesMax: SMOKE_CASES, failuresMax: 1 };
    const report = await fuzzEvm(bounds, () => undefined);
    const [failure] = report.failures;
    assert.equal(failure, undefined, `SEED=${failure?.seed ?? 0} ${failure?.difference ?? ""}`);
    assert.ok(report.executed > 0, "no transaction was executed");
  });

  it("agrees on every case that once differed", async () => {
    for (const file of globSync("*.json", { cwd: VECTORS_FOLDER })) {
      const vector = JSON.parse(readFileSync(`${VECTORS_FOLDER}/${file}`, "utf8")) as Vector;
      const { difference } = await compareCase(vector.case);
      assert.equal(difference, undefined, `${file}: ${difference ?? ""}`);
    }
  });
});
