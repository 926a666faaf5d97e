/** The accounts of a fixture as the state of block 0. */
import { hexToBytes } from "../../src/base/hex.ts";
import { Journal } from "../../src/state/journal.ts";
import { MemoryStore } from "../../src/state/memory-store.ts";
import { StateDatabase } from "../../src/state/state-database.ts";
import { asObject, asQuantity, asText, type JsonObject } from "./fixture-data.ts";

export function buildPreState(pre: JsonObject): StateDatabase {
  const database = new StateDatabase({ keepsHistory: false }, new MemoryStore());
  const journal = new Journal(database);
  for (const [key, json] of Object.entries(pre)) {
    const address = BigInt(key);
    const content = asObject(json);
    // Some tests begin with empty accounts, which EIP-161 does not let a transaction leave behind.
    journal.touch(address);
    journal.setNonce(address, asQuantity(content["nonce"]));
    journal.setBalance(address, asQuantity(content["balance"]));
    journal.setCode(address, hexToBytes(asText(content["code"])));
    for (const [slot, value] of Object.entries(asObject(content["storage"]))) {
      journal.setStorage(address, BigInt(slot), asQuantity(value));
    }
  }
  database.commit(0n, journal.blockChanges());
  return database;
}
