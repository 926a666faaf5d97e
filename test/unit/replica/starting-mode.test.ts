import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { LogRecord } from "../../../src/consensus/log-record.ts";
import { startOf } from "../../../src/replica/start-mode.ts";
import { ZERO_HASH } from "../../../src/wire/hash-text.ts";

const NEW = { records: [], blockHeight: undefined, stateHeight: 0 };
const RECORDS = [{ kind: "vote" }] as unknown as readonly LogRecord[];

describe("how a replica starts", () => {
  it("a replica without anything on its disk founds only if the installer says so", () => {
    assert.equal(startOf("found", NEW, ZERO_HASH).kind, "found");
    assert.equal(startOf("resume", NEW, ZERO_HASH).kind, "empty");
    assert.equal(startOf("rejoin", NEW, ZERO_HASH).kind, "empty");
  });

  it("a replica that has blocks or a state lost its log, whatever the installer says", () => {
    assert.equal(startOf("found", { ...NEW, blockHeight: 1 }, ZERO_HASH).kind, "empty");
    assert.equal(startOf("found", { ...NEW, stateHeight: 1 }, ZERO_HASH).kind, "empty");
  });

  it("a replica with a log resumes", () => {
    assert.equal(startOf("found", { ...NEW, records: RECORDS }, ZERO_HASH).kind, "resume");
  });
});
