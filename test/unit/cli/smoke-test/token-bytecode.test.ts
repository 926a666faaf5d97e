import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { callData, creationCode } from "../../../../bench/support/contract-bytecode.ts";
import { bytesToHex } from "../../../../src/base/hex.ts";
import {
  TOKEN_CREATION_CODE,
  TOKEN_SELECTORS,
} from "../../../../src/cli/smoke-test/token-bytecode.ts";

describe("the token of the smoke test", () => {
  it("is what the compiler makes of bench/contracts/Token.sol", () => {
    assert.equal(TOKEN_CREATION_CODE, bytesToHex(creationCode("Token")));
    const { mint, transfer, balanceOf } = TOKEN_SELECTORS;
    assert.equal(mint, bytesToHex(callData("Token", "mint(address,uint256)")));
    assert.equal(transfer, bytesToHex(callData("Token", "transfer(address,uint256)")));
    assert.equal(balanceOf, bytesToHex(callData("Token", "balanceOf(address)")));
  });
});
