// Fails unless the native addons load and work on this machine.
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { mkdtempSync, rmSync } from "node:fs";
import path from "node:path";

const require = createRequire(path.resolve("package.json"));

const checks = {
  secp256k1: () => {
    const secp256k1 = require("secp256k1/bindings");
    const key = secp256k1.publicKeyCreate(new Uint8Array(32).fill(1));
    if (key.length !== 33) throw new Error("no key came out");
  },
  "sodium-native": () => {
    const sodium = require("sodium-native");
    sodium.crypto_sign_seed_keypair(Buffer.alloc(32), Buffer.alloc(64), Buffer.alloc(32, 1));
  },
  lmdb: () => {
    const directory = mkdtempSync(path.join(tmpdir(), "lmdb-"));
    const database = require("lmdb").open({ path: directory });
    database.putSync("key", "value");
    const isKept = database.get("key") === "value";
    rmSync(directory, { recursive: true });
    if (!isKept) throw new Error("nothing was kept");
  },
};

for (const [name, check] of Object.entries(checks)) {
  try {
    check();
  } catch (error) {
    console.error(`${name} does not work on ${process.platform}-${process.arch}: ${error.message}`);
    process.exitCode = 1;
  }
}
