import assert from "node:assert/strict";
import { it } from "node:test";
import { fuzzRpc } from "./rpc.ts";

it("hostile input does not hurt ethrpc", async () => {
  assert.equal(await fuzzRpc({ seed: 1, seconds: 4 }), 0);
});
