/**
 * The genesis of a network. It never changes: its SHA-256 is the network's id in every consensus
 * signature, and block 0 commits to it.
 */
import { bytesToHex } from "../base/hex.ts";
import { err, ok, type Result } from "../base/result.ts";
import { sha256 } from "../crypto/sha256.ts";
import { addressToBytes, addressToHex, ZERO_ADDRESS } from "./address.ts";
import { PERMISSION_ADDRESS } from "./permissions.ts";
import { decodeRlp, encodeRlp, type RlpErrorCode, type RlpInput, type RlpItem } from "./rlp/rlp.ts";
import { RlpFields, type RlpFieldErrorCode } from "./rlp/rlp-fields.ts";

export type GenesisConfig = {
  readonly chainId: bigint;
  /** Of block 0, in seconds since 1970. */
  readonly timestamp: bigint;
  /** Gas of one block, declared by its transactions. */
  readonly gasLimit: bigint;
  /** Gas that one transaction may ask for. */
  readonly transactionGasMax: bigint;
  /** The accounts of block 0. The first one's funding is the transaction of block 0; the order is
   * part of the genesis. */
  readonly alloc: readonly GenesisAccount[];
  readonly isWritePermissioned: boolean;
  readonly isReadPermissioned: boolean;
  /** Ed25519, by replica id. */
  readonly replicaPublicKeys: readonly Uint8Array[];
};

/** Without `carried` it is a funded account, and an admin of the permission contract. */
export type GenesisAccount = {
  readonly address: bigint;
  readonly balance: bigint;
  readonly carried?: CarriedAccount;
};

/** What an account brings along from another chain. */
export type CarriedAccount = {
  readonly isAdmin: boolean;
  readonly nonce: bigint;
  readonly code: Uint8Array;
  /** In rising order of slots, none with the value 0. */
  readonly storage: readonly (readonly [slot: bigint, value: bigint])[];
};

export type GenesisError = {
  readonly code:
    | RlpErrorCode
    | RlpFieldErrorCode
    | "GENESIS_TAG_UNKNOWN"
    | "GENESIS_SWITCH_INVALID"
    | "GENESIS_CHAIN_ID_OUT_OF_RANGE"
    | "GENESIS_TIMESTAMP_IN_FUTURE"
    | "GENESIS_GAS_LIMIT_OUT_OF_RANGE"
    | "GENESIS_TRANSACTION_GAS_OUT_OF_RANGE"
    | "GENESIS_PERMISSIONS_WITHOUT_ALLOC"
    | "GENESIS_ALLOC_ZERO_ADDRESS"
    | "GENESIS_ALLOC_DUPLICATE"
    | "GENESIS_ALLOC_OVERFLOW"
    | "GENESIS_ALLOC_RESERVED"
    | "GENESIS_ALLOC_CODE_TOO_LARGE"
    | "GENESIS_ALLOC_STORAGE_UNSORTED"
    | "GENESIS_REPLICA_COUNT_WRONG"
    | "GENESIS_REPLICA_KEY_SIZE_WRONG"
    | "GENESIS_REPLICA_KEY_DUPLICATE";
  /** What is at fault, in the words of the configuration. */
  readonly subject?: string;
};

export const DEFAULT_CHAIN_ID = 5000n;
export const DEFAULT_GENESIS_TIMESTAMP = "2022-12-02 00:01:00";
export const DEFAULT_GAS_LIMIT = 60_000_000n;
export const DEFAULT_TRANSACTION_GAS_MAX = 16_777_216n;
export const DEFAULT_GENESIS_BALANCE = 0x7fff_ffff_ffff_ffffn;

/** Names the form and its version, so that another form can never have the same hash. */
const TAG = Uint8Array.from("quorate genesis 1", (char) => char.charCodeAt(0));
const PUBLIC_KEY_SIZE = 32;
/** EIP-2294: 2 * chainId + 36 must fit in 64 bits, for wallets that compute v in them. */
const CHAIN_ID_MAX = 2n ** 63n - 37n;
const TRANSACTION_GAS_MIN = 21_000n;
const GAS_LIMIT_MAX = 2n ** 53n - 1n;
const UINT256_MAX = 2n ** 256n - 1n;
/** n = 3f+1 with f = 21. Also the most signatures in one certificate on the wire. */
export const REPLICAS_MAX = 64;
/** EIP-170. */
const CODE_SIZE_MAX = 24_576;
const NONCE_SIZE_MAX = 8;
const CARRIED_FIELDS = 6;

/** The network's id: `net` of the consensus protocol. */
export function genesisHash(config: GenesisConfig): Uint8Array {
  return new Uint8Array(sha256(encodeGenesis(config)));
}

export function encodeGenesis(config: GenesisConfig): Uint8Array {
  return encodeRlp([
    TAG,
    config.chainId,
    config.timestamp,
    config.gasLimit,
    config.transactionGasMax,
    config.alloc.map(encodeAccount),
    config.isWritePermissioned ? 1 : 0,
    config.isReadPermissioned ? 1 : 0,
    config.replicaPublicKeys,
  ]);
}

/** Reads the form alone; whether the values make sense is for checkGenesis to say. */
export function decodeGenesis(bytes: Uint8Array): Result<GenesisConfig, GenesisError> {
  const item = decodeRlp(bytes);
  if (!item.ok) return err({ code: item.error.code });
  const fields = new RlpFields();
  fields.enter(item.value, "genesis", 9, 9);
  const tag = fields.bytes("tag");
  const chainId = fields.integer("chainId");
  const timestamp = fields.integer("timestamp", 8);
  const gasLimit = fields.integer("gasLimit", 8);
  const transactionGasMax = fields.integer("transactionGasMax", 8);
  const accountItems = fields.list("alloc");
  const write = fields.integer("isWritePermissioned");
  const read = fields.integer("isReadPermissioned");
  const keyItems = fields.list("replicaPublicKeys");
  const admins: bigint[] = [];
  const alloc = accountItems.map((account) => readAccount(fields, account, admins));
  fields.enter(keyItems, "replicaPublicKeys", 0, REPLICAS_MAX);
  const replicaPublicKeys: Uint8Array[] = [];
  while (fields.hasNext()) replicaPublicKeys.push(fields.bytes("replicaPublicKey"));
  if (fields.failure !== undefined) {
    return err({ code: fields.failure.code, subject: fields.failure.field });
  }
  if (bytesToHex(tag) !== bytesToHex(TAG)) return err({ code: "GENESIS_TAG_UNKNOWN" });
  if (write > 1n) return err({ code: "GENESIS_SWITCH_INVALID", subject: "isWritePermissioned" });
  if (read > 1n) return err({ code: "GENESIS_SWITCH_INVALID", subject: "isReadPermissioned" });
  if (admins.some((isAdmin) => isAdmin > 1n)) {
    return err({ code: "GENESIS_SWITCH_INVALID", subject: "alloc.isAdmin" });
  }
  return ok({
    chainId,
    timestamp,
    gasLimit,
    transactionGasMax,
    alloc,
    isWritePermissioned: write === 1n,
    isReadPermissioned: read === 1n,
    replicaPublicKeys,
  });
}

/** Every rule that the values break. Time is given: this folder reads no clock. */
export function checkGenesis(config: GenesisConfig, nowMs: number): readonly GenesisError[] {
  const errors: GenesisError[] = [];
  if (config.chainId < 1n || config.chainId > CHAIN_ID_MAX) {
    errors.push({ code: "GENESIS_CHAIN_ID_OUT_OF_RANGE", subject: String(config.chainId) });
  }
  if (config.timestamp * 1000n > BigInt(Math.floor(nowMs))) {
    errors.push({ code: "GENESIS_TIMESTAMP_IN_FUTURE", subject: String(config.timestamp) });
  }
  if (config.gasLimit < TRANSACTION_GAS_MIN || config.gasLimit > GAS_LIMIT_MAX) {
    errors.push({ code: "GENESIS_GAS_LIMIT_OUT_OF_RANGE", subject: String(config.gasLimit) });
  }
  if (
    config.transactionGasMax < TRANSACTION_GAS_MIN ||
    config.transactionGasMax > config.gasLimit
  ) {
    const subject = String(config.transactionGasMax);
    errors.push({ code: "GENESIS_TRANSACTION_GAS_OUT_OF_RANGE", subject });
  }
  // Without an admin, no right could ever be granted.
  const isPermissioned = config.isWritePermissioned || config.isReadPermissioned;
  if (isPermissioned && genesisAdmins(config).length === 0) {
    errors.push({ code: "GENESIS_PERMISSIONS_WITHOUT_ALLOC" });
  }
  return [...errors, ...checkAlloc(config.alloc), ...checkReplicas(config.replicaPublicKeys)];
}

/** Who administers permissions from the start. */
export function genesisAdmins({ alloc }: Pick<GenesisConfig, "alloc">): readonly bigint[] {
  return alloc
    .filter(({ carried }) => carried === undefined || carried.isAdmin)
    .map(({ address }) => address);
}

function checkAlloc(alloc: readonly GenesisAccount[]): readonly GenesisError[] {
  const errors: GenesisError[] = [];
  const seen = new Set<bigint>();
  let total = 0n;
  for (const { address, balance, carried } of alloc) {
    const subject = addressToHex(address);
    if (address === ZERO_ADDRESS) errors.push({ code: "GENESIS_ALLOC_ZERO_ADDRESS" });
    if (seen.has(address)) errors.push({ code: "GENESIS_ALLOC_DUPLICATE", subject });
    seen.add(address);
    total += balance;
    const code = carried === undefined ? undefined : carriedProblem(address, carried);
    if (code !== undefined) errors.push({ code, subject });
  }
  if (total > UINT256_MAX) errors.push({ code: "GENESIS_ALLOC_OVERFLOW" });
  return errors;
}

function carriedProblem(
  address: bigint,
  { code, storage }: CarriedAccount,
): GenesisError["code"] | undefined {
  // Its storage says who administers permissions, so no account of the genesis may set it.
  if (address === PERMISSION_ADDRESS) return "GENESIS_ALLOC_RESERVED";
  if (code.length > CODE_SIZE_MAX) return "GENESIS_ALLOC_CODE_TOO_LARGE";
  const isSorted = storage.every(
    ([slot, value], at) => value !== 0n && (at === 0 || slot > (storage[at - 1]?.[0] ?? slot)),
  );
  return isSorted ? undefined : "GENESIS_ALLOC_STORAGE_UNSORTED";
}

function checkReplicas(publicKeys: readonly Uint8Array[]): readonly GenesisError[] {
  const errors: GenesisError[] = [];
  const count = publicKeys.length;
  // n = 3f + 1 with f >= 1: fewer tolerate no fault at all.
  if (count < 4 || count % 3 !== 1 || count > REPLICAS_MAX) {
    errors.push({ code: "GENESIS_REPLICA_COUNT_WRONG", subject: String(count) });
  }
  const seen = new Set<string>();
  for (const publicKey of publicKeys) {
    const subject = bytesToHex(publicKey);
    if (publicKey.length !== PUBLIC_KEY_SIZE) {
      errors.push({ code: "GENESIS_REPLICA_KEY_SIZE_WRONG", subject });
    }
    if (seen.has(subject)) errors.push({ code: "GENESIS_REPLICA_KEY_DUPLICATE", subject });
    seen.add(subject);
  }
  return errors;
}

/** Two fields for a funded account; the longer form can never be mistaken for it. */
function encodeAccount({ address, balance, carried }: GenesisAccount): RlpInput {
  if (carried === undefined) return [addressToBytes(address), balance];
  const { isAdmin, nonce, code, storage } = carried;
  return [addressToBytes(address), balance, isAdmin ? 1 : 0, nonce, code, storage];
}

/** Notes the switch of each account that has one: anything but 0 and 1 is refused. */
function readAccount(fields: RlpFields, item: RlpItem, admins: bigint[]): GenesisAccount {
  const isCarried = !(item instanceof Uint8Array) && item.length !== 2;
  const count = isCarried ? CARRIED_FIELDS : 2;
  fields.enter(item, "alloc.account", count, count);
  const address = fields.address("alloc.address");
  const balance = fields.integer("alloc.balance");
  if (!isCarried) return { address, balance };
  const isAdmin = fields.integer("alloc.isAdmin", 1);
  admins.push(isAdmin);
  const nonce = fields.integer("alloc.nonce", NONCE_SIZE_MAX);
  const code = fields.bytes("alloc.code");
  const storage = fields.list("alloc.storage").map((entry) => {
    fields.enter(entry, "alloc.storage", 2, 2);
    return [fields.integer("alloc.slot"), fields.integer("alloc.value")] as const;
  });
  return { address, balance, carried: { isAdmin: isAdmin === 1n, nonce, code, storage } };
}
