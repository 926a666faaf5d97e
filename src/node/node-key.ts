/** Key files of nodes: Ed25519 in PKCS #8 PEM, readable by their owner alone. */
import { randomBytes } from "node:crypto";
import { closeSync, fsyncSync, mkdirSync, openSync, readFileSync, writeSync } from "node:fs";
import path from "node:path";
import { CodedError } from "../base/coded-error.ts";
import { bytesToHex } from "../base/hex.ts";
import { parsePrivateKeyPem, privateKeyToPem } from "../crypto/certificate.ts";
import { createSigner, ED25519_SEED_SIZE } from "../crypto/ed25519.ts";
import { shownPath } from "./shown-path.ts";

/** Never overwrites: a lost key cannot be restored. */
export function createKey(file: string): Uint8Array {
  mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 });
  const seed = new Uint8Array(randomBytes(ED25519_SEED_SIZE));
  let opened: number;
  try {
    opened = openSync(file, "wx", 0o600);
  } catch (error) {
    if (!isSystemError(error, "EEXIST")) throw error;
    throw new CodedError("FILE_EXISTS", { path: shownPath(file) }, error);
  }
  try {
    writeSync(opened, privateKeyToPem(seed));
    fsyncSync(opened);
  } finally {
    closeSync(opened);
  }
  return createSigner(seed).publicKey;
}

/** The seed in a key file. Throws KEY_UNREADABLE. */
export function loadKey(file: string): Uint8Array {
  let pem: string;
  try {
    pem = readFileSync(file, "utf8");
  } catch (error) {
    const reason = isSystemError(error, "ENOENT") ? "it is not there" : "it cannot be read";
    throw new CodedError("KEY_UNREADABLE", { path: shownPath(file), reason }, error);
  }
  const seed = parsePrivateKeyPem(pem);
  if (seed !== undefined) return seed;
  const reason = "it holds no Ed25519 key in PEM form";
  throw new CodedError("KEY_UNREADABLE", { path: shownPath(file), reason });
}

/** Throws KEY_WRONG unless the seed belongs to this public key. */
export function assertKey(
  seed: Uint8Array,
  expected: Uint8Array,
  file: string,
  node: string,
): void {
  if (bytesToHex(createSigner(seed).publicKey) === bytesToHex(expected)) return;
  throw new CodedError("KEY_WRONG", { path: shownPath(file), node });
}

export function isSystemError(error: unknown, code: string): boolean {
  return error instanceof Error && "code" in error && error.code === code;
}
