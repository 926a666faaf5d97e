/** A small network of real replicas on loopback: its keys, its genesis, its accounts. */
import type { Logger } from "../../src/base/logger.ts";
import { publicKeyToAddress } from "../../src/chain/address.ts";
import type { GenesisConfig } from "../../src/chain/genesis.ts";
import { encodeTransaction } from "../../src/chain/transaction-encoder.ts";
import { signTransaction } from "../../src/chain/transaction-sender.ts";
import { createSigner } from "../../src/crypto/ed25519.ts";
import { publicKeyOf } from "../../src/crypto/secp256k1.ts";
import type { ReplicaOptions } from "../../src/replica/replica-options.ts";

export const HOST = "127.0.0.1";
export const REPLICA_COUNT = 4;
export const CLIENT = 8;
export const CHAIN_ID = 5000n;
const SENDER_COUNT = 40;

/** The Ed25519 seed of a principal. */
export function seedOf(principal: number): Uint8Array {
  return new Uint8Array(32).fill(principal + 1);
}

export const ACCOUNT_KEYS: readonly Uint8Array[] = Array.from({ length: SENDER_COUNT }, (_, at) =>
  new Uint8Array(32).fill(at + 100),
);
export const ACCOUNTS: readonly bigint[] = ACCOUNT_KEYS.map((key) =>
  publicKeyToAddress(publicKeyOf(key)),
);

export const GENESIS: GenesisConfig = {
  chainId: CHAIN_ID,
  timestamp: 1_669_939_260n,
  gasLimit: 60_000_000n,
  transactionGasMax: 16_777_216n,
  alloc: ACCOUNTS.map((address) => ({ address, balance: 10n ** 18n })),
  isWritePermissioned: false,
  isReadPermissioned: false,
  replicaPublicKeys: Array.from(
    { length: REPLICA_COUNT },
    (_, index) => createSigner(seedOf(index)).publicKey,
  ),
};

export const SILENT_LOGGER: Logger = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
};

export function replicaOptions(
  index: number,
  dataPath: string,
  more: Partial<ReplicaOptions> = {},
): ReplicaOptions {
  return {
    index,
    genesis: GENESIS,
    seed: seedOf(index),
    dataPath,
    listen: { host: HOST, port: 0 },
    replicas: [],
    clientPublicKeys: new Map([[CLIENT, createSigner(seedOf(CLIENT)).publicKey]]),
    startMode: "bootstrap",
    // Small, so that tests write little and see the log being rotated.
    logSegmentSize: 1024 * 1024,
    ...more,
  };
}

/** One coin from an account to the next one. */
export function transfer(
  account: number,
  nonce: number,
  value = 1n,
  data = new Uint8Array(0),
  gasPrice = 0n,
): Uint8Array {
  const key = ACCOUNT_KEYS[account]!;
  const transaction = signTransaction(
    {
      type: 2,
      chainId: CHAIN_ID,
      nonce: BigInt(nonce),
      maxPriorityFeePerGas: gasPrice,
      maxFeePerGas: gasPrice,
      gasLimit: 21_000n + 10n * BigInt(data.length),
      to: ACCOUNTS[(account + 1) % ACCOUNTS.length]!,
      value,
      data,
      accessList: [],
    },
    key,
  );
  return encodeTransaction(transaction);
}
