import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { LogRecord } from "../../../src/consensus/log-record.ts";
import { startOf } from "../../../src/replica/start-mode.ts";
import { ZERO_HASH_TEXT } from "../../../src/wire/hash-text.ts";

const NEW = { records: [], blockHeight: undefined, stateHeight: 0 };
const RECORDS = [{ kind: "vote" }] as unknown as readonly LogRecord[];

describe("how a replica starts", () => {
  it("a replica without anything on its disk founds only if the installer says so", () => {
    assert.equal(startOf("bootstrap", NEW, ZERO_HASH_TEXT).kind, "bootstrap");
    assert.equal(startOf("resume", NEW, ZERO_HASH_TEXT).kind, "empty");
    assert.equal(startOf("rejoin", NEW, ZERO_HASH_TEXT).kind, "empty");
  });

  it("a replica that has blocks or a state lost its log, whatever the installer says", () => {
    assert.equal(startOf("bootstrap", { ...NEW, blockHeight: 1 }, ZERO_HASH_TEXT).kind, "empty");
    assert.equal(startOf("bootstrap", { ...NEW, stateHeight: 1 }, ZERO_HASH_TEXT).kind, "empty");
  });

  it("a replica with a log resumes", () => {
    assert.equal(startOf("bootstrap", { ...NEW, records: RECORDS }, ZERO_HASH_TEXT).kind, "resume");
  });
});
