/** Our Merkle-Patricia trie beside @ethereumjs/mpt: updated accounts on a trie of 100,000. */
import { createMPT, type MerklePatriciaTrie } from "@ethereumjs/mpt";

import { equalBytes } from "../src/base/bytes.ts";
import { Prng } from "../src/base/prng.ts";
import { addressHash } from "../src/chain/word-hash.ts";
import { EMPTY_CODE, EMPTY_STORAGE_ROOT, encodeAccount } from "../src/state/account.ts";
import { Trie } from "../src/state/trie/trie.ts";
import { median, microsSince } from "./support/cpu-time.ts";

const ACCOUNT_COUNT = 100_000;
const UPDATE_COUNTS: readonly number[] = [1_000, 10_000];
const WARM_UP_ROUNDS = 3;
const ROUNDS = 7;

/** Microseconds of CPU per updated account: the middle one of the rounds. */
export type StateBenchResult = {
  readonly updatedCount: number;
  readonly oursMicros: number;
  readonly otherMicros: number;
  readonly ratio: number;
};

/**
 * Both sides hash their keys, update, and compute the root; the roots must agree. Each is used as
 * it comes, with its own Keccak: that is what one would get.
 */
export async function benchState(): Promise<readonly StateBenchResult[]> {
  const ours = new Trie();
  const other = await createMPT({ useKeyHashing: true });
  await fill(ours, other);
  const results: StateBenchResult[] = [];
  const prng = new Prng(1);
  for (const updatedCount of UPDATE_COUNTS) {
    const oursMicros: number[] = [];
    const otherMicros: number[] = [];
    for (let round = -WARM_UP_ROUNDS; round < ROUNDS; round++) {
      const updates = drawUpdates(prng, updatedCount);
      let start = process.cpuUsage();
      for (const { address, value } of updates) ours.put(addressHash(address), value);
      ours.rootHash();
      const oursTaken = microsSince(start) / updatedCount;
      start = process.cpuUsage();
      for (const { bytes, value } of updates) await other.put(bytes, value);
      const otherTaken = microsSince(start) / updatedCount;
      if (round >= 0) {
        oursMicros.push(oursTaken);
        otherMicros.push(otherTaken);
      }
      if (!equalBytes(ours.rootHash(), other.root())) throw new Error("the roots differ");
    }
    const oursMiddle = median(oursMicros);
    const otherMiddle = median(otherMicros);
    results.push({
      updatedCount,
      oursMicros: oursMiddle,
      otherMicros: otherMiddle,
      ratio: otherMiddle / oursMiddle,
    });
  }
  return results;
}

type Update = { readonly address: bigint; readonly bytes: Uint8Array; readonly value: Uint8Array };

async function fill(ours: Trie, other: MerklePatriciaTrie): Promise<void> {
  for (let index = 0; index < ACCOUNT_COUNT; index++) {
    const { address, bytes, value } = update(index, 1n);
    ours.put(addressHash(address), value);
    await other.put(bytes, value);
  }
  ours.rootHash();
}

function drawUpdates(prng: Prng, count: number): Update[] {
  return Array.from({ length: count }, () =>
    update(prng.below(ACCOUNT_COUNT), BigInt(prng.uint32())),
  );
}

/** The index spread over the address space, as addresses are. */
function update(index: number, balance: bigint): Update {
  const bytes = new Uint8Array(20);
  const view = new DataView(bytes.buffer);
  view.setUint32(0, Math.imul(index, 0x9e37_79b1) >>> 0);
  view.setUint32(16, index);
  const address = BigInt(`0x${Buffer.from(bytes).toString("hex")}`);
  const value = encodeAccount({
    nonce: balance & 0xffn,
    balance: balance * 1_000_000_007n,
    storageRoot: EMPTY_STORAGE_ROOT,
    codeHash: EMPTY_CODE.hash,
  });
  return { address, bytes, value };
}
