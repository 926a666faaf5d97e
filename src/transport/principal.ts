/** Who may stand at the other end of a link. */
import { bytesToHex } from "../base/hex.ts";
import { invariant } from "../base/invariant.ts";
import { ED25519_PUBLIC_KEY_SIZE } from "../crypto/ed25519.ts";

/** Below `clientPrincipalMin` are replicas, from there on client nodes. */
export type Principal = number;

export type Endpoint = { readonly host: string; readonly port: number };

export type Peer = {
  readonly publicKey: Uint8Array;
  /** Undefined for a peer that is only listened for, such as a client node. */
  readonly endpoint?: Endpoint | undefined;
};

/**
 * Between two principals only the higher dials, so there is one connection and no tie to break. A
 * client node therefore dials replicas and is never dialled; client nodes do not talk.
 */
export function isDialer(self: Principal, peer: Principal, clientMin: Principal): boolean {
  return self > peer && peer < clientMin;
}

/** Finds a principal by its pinned public key. */
export class PinnedKeys {
  readonly #byKey = new Map<string, Principal>();

  constructor(peers: ReadonlyMap<Principal, Peer>) {
    for (const [principal, { publicKey }] of peers) {
      invariant(publicKey.length === ED25519_PUBLIC_KEY_SIZE, "a pinned key has 32 bytes");
      const key = bytesToHex(publicKey);
      invariant(!this.#byKey.has(key), "two principals never share a key");
      this.#byKey.set(key, principal);
    }
  }

  principalOf(publicKey: Uint8Array): Principal | undefined {
    return this.#byKey.get(bytesToHex(publicKey));
  }
}
