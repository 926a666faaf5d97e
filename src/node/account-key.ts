/** The key of an Ethereum account in a file: 0x-hex, readable by its owner alone. */
import { randomBytes } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { CodedError } from "../base/coded-error.ts";
import { bytesToHex, parseHex } from "../base/hex.ts";
import { publicKeyToAddress } from "../chain/address.ts";
import { publicKeyOf } from "../crypto/secp256k1.ts";
import { shownPath } from "./shown-path.ts";
import { writeFileAtomically } from "../storage/atomic-file.ts";

const KEY_SIZE = 32;
const OWNER_ONLY = 0o600;

/** The address of the account. A key that is there is kept. Throws KEY_UNREADABLE. */
export function loadOrCreateAccountKey(file: string): bigint {
  // No retry: a number above the order of the curve is as unlikely as two equal keys.
  if (!existsSync(file))
    writeFileAtomically(file, `${bytesToHex(randomBytes(KEY_SIZE))}\n`, OWNER_ONLY);
  return loadAccount(file);
}

function loadAccount(file: string): bigint {
  const key = parseHex(readFileSync(file, "utf8").trim());
  if (key?.length === KEY_SIZE) return publicKeyToAddress(publicKeyOf(key));
  const reason = "it holds no private key of 32 bytes in 0x-hex";
  throw new CodedError("KEY_UNREADABLE", { path: shownPath(file), reason });
}
