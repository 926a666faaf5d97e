import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { genesisHash, type GenesisConfig } from "../../../src/chain/genesis.ts";
import { bytesToHex } from "../../../src/base/hex.ts";
import { consensusGenesis } from "../../../src/wire/consensus-genesis.ts";
import { createHeaderHasher } from "../../../src/wire/ports.ts";

const CONFIG: GenesisConfig = {
  chainId: 5000n,
  timestamp: 1_669_939_260n,
  gasLimit: 60_000_000n,
  transactionGasMax: 16_777_216n,
  alloc: [{ address: 1n, balance: 5n }],
  isWritePermissioned: false,
  isReadPermissioned: false,
  replicaPublicKeys: [1, 2, 3, 4].map((byte) => new Uint8Array(32).fill(byte)),
};
const RESULT = new Uint8Array(32).fill(7);

describe("the genesis of the consensus chain", () => {
  it("stands at height 0 and names the network, its time and the result of block 0", () => {
    const { net, header, result } = consensusGenesis(CONFIG, RESULT);
    assert.deepEqual(net, genesisHash(CONFIG));
    assert.equal(result, bytesToHex(RESULT));
    assert.deepEqual(header, {
      epoch: 0,
      height: 0,
      parent: `0x${"00".repeat(32)}`,
      payloadHash: bytesToHex(net),
      txCount: 0,
      payloadSize: 0,
      timestampMs: 1_669_939_260_000,
      execHeight: 0,
      execResult: result,
    });
  });

  it("differs wherever the genesis or its result differs", () => {
    const hashes = [
      consensusGenesis(CONFIG, RESULT),
      consensusGenesis({ ...CONFIG, chainId: 5001n }, RESULT),
      consensusGenesis(CONFIG, new Uint8Array(32).fill(8)),
    ].map(({ net, header }) => createHeaderHasher(net)(header));
    assert.equal(new Set(hashes).size, 3);
  });
});
