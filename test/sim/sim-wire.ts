/**
 * The real codec and authenticator between simulated replicas. Keys are either real Ed25519 or, for
 * speed, keyed hashes that only their owner can make, as long as the simulation leaks no secret.
 */
import { concatBytes, equalBytes } from "../../src/base/bytes.ts";
import { invariant } from "../../src/base/invariant.ts";
import type { Header, ReplicaIndex } from "../../src/consensus/block.ts";
import type { LogRecord } from "../../src/consensus/log-record.ts";
import type { Message } from "../../src/consensus/message.ts";
import type { Ports } from "../../src/consensus/parameters.ts";
import { createSigner } from "../../src/crypto/ed25519.ts";
import { sha256 } from "../../src/crypto/sha256.ts";
import {
  createPeerMessageAuthenticator,
  createKeyVerifier,
  type PeerMessageAuthenticator,
  type VerifySignature,
} from "../../src/wire/authenticate.ts";
import { decodeLogRecord, encodeLogRecord } from "../../src/wire/log-record-codec.ts";
import { decodeMessage, encodeMessage } from "../../src/wire/message-codec.ts";
import { createPorts, type StatementSigner } from "../../src/wire/ports.ts";
import type { Coverage } from "./coverage.ts";

export type SimWireOptions = {
  readonly replicaCount: number;
  readonly genesis: Header;
  readonly window: number;
  readonly isEd25519: boolean;
  readonly network: string;
};

export class SimWire {
  readonly #net: Uint8Array;
  readonly #signers: readonly StatementSigner[];
  readonly #authenticator: PeerMessageAuthenticator;
  readonly #coverage: Coverage;

  constructor(options: SimWireOptions, coverage: Coverage) {
    this.#coverage = coverage;
    this.#net = sha256(new TextEncoder().encode(options.network));
    const seeds = Array.from({ length: options.replicaCount }, (_, index) =>
      sha256(new TextEncoder().encode(`secret of replica ${index}`)),
    );
    const keys = options.isEd25519 ? ed25519Keys(seeds) : hashKeys(seeds);
    this.#signers = keys.signers;
    this.#authenticator = createPeerMessageAuthenticator(
      {
        net: this.#net,
        replicaCount: options.replicaCount,
        genesis: options.genesis,
        window: options.window,
      },
      { verify: keys.verify },
    );
  }

  portsOf(index: ReplicaIndex): Ports {
    return createPorts({ net: this.#net, signer: this.#signers[index]! });
  }

  encode(message: Message): Uint8Array {
    return encodeMessage(message);
  }

  /** What the replica's link layer would hand to the core, or undefined. */
  receive(from: ReplicaIndex, frame: Uint8Array): Message | undefined {
    const decoded = decodeMessage(frame);
    if (!decoded.ok) {
      this.#coverage.count(`refused: ${decoded.error.code}`);
      return undefined;
    }
    const authentic = this.#authenticator.authenticate(decoded.value, from);
    if (!authentic.ok) {
      this.#coverage.count(`refused: ${authentic.error.code}`);
      return undefined;
    }
    return authentic.value;
  }

  isAuthentic(message: Message, from: ReplicaIndex): boolean {
    return this.#authenticator.authenticate(message, from).ok;
  }

  encodeRecord(record: LogRecord): Uint8Array {
    return encodeLogRecord(record);
  }

  decodeRecord(bytes: Uint8Array): LogRecord {
    const decoded = decodeLogRecord(bytes);
    invariant(decoded.ok, "a record with a good checksum decodes");
    return decoded.value;
  }
}

type Keys = { readonly signers: readonly StatementSigner[]; readonly verify: VerifySignature };

function ed25519Keys(seeds: readonly Uint8Array[]): Keys {
  const signers = seeds.map((seed) => createSigner(seed));
  return { signers, verify: createKeyVerifier(signers.map(({ publicKey }) => publicKey)) };
}

function hashKeys(seeds: readonly Uint8Array[]): Keys {
  const signWith = (seed: Uint8Array, bytes: Uint8Array): Uint8Array => {
    const half = sha256(concatBytes(seed, bytes));
    return concatBytes(half, half);
  };
  return {
    signers: seeds.map((seed) => ({ sign: (bytes) => signWith(seed, bytes) })),
    verify: (sender, bytes, signature) => {
      const seed = seeds[sender];
      return seed !== undefined && equalBytes(signWith(seed, bytes), signature);
    },
  };
}
