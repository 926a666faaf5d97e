/** TrieTests: the root of a set of keys, in any order and with deletions. */
import { bytesToHex, hexToBytes } from "../../src/base/hex.ts";
import { keccak256 } from "../../src/crypto/keccak256.ts";
import { Trie } from "../../src/state/trie/trie.ts";
import { asArray, asObject, asText, type Fixture, type Json } from "./fixture-data.ts";
import { failed, inapplicable, PASSED, type Verdict } from "./outcome.ts";

type Change = readonly [key: Uint8Array, value: Uint8Array | undefined];

export function runTrieTest({ file, body }: Fixture): Verdict {
  const test = asObject(body);
  if (test["root"] === undefined) {
    return inapplicable("asks for the next and previous key: the state needs no such iterator");
  }
  const isSecure = /secure/i.test(file);
  const changes = readChanges(test["in"] ?? []).map(([key, value]): Change => [
    isSecure ? keccak256(key) : key,
    value,
  ]);
  const expected = asText(test["root"]);
  // Sets without an order must give the same root in any; lists are a history and keep theirs.
  const orders = Array.isArray(test["in"]) ? [changes] : [changes, changes.toReversed()];
  for (const order of orders) {
    const trie = new Trie();
    for (const [key, value] of order) {
      if (value === undefined) trie.delete(key);
      else trie.put(key, value);
    }
    const root = bytesToHex(trie.rootHash());
    if (root !== expected) return failed(`root ${root}, expected ${expected}`);
  }
  return PASSED;
}

function readChanges(content: Json): Change[] {
  const pairs = Array.isArray(content) ? content.map(asArray) : Object.entries(asObject(content));
  return pairs.map(([key, value]) => [
    toBytes(asText(key)),
    value === null ? undefined : toBytes(asText(value)),
  ]);
}

function toBytes(text: string): Uint8Array {
  return text.startsWith("0x") ? hexToBytes(text) : new TextEncoder().encode(text);
}
