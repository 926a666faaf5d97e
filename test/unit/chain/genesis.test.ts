import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { RLP } from "@ethereumjs/rlp";
import fc from "fast-check";
import { bytesToHex } from "../../../src/base/hex.ts";
import { createGenesisBlock } from "../../../src/chain/genesis-block.ts";
import { parseTimestamp } from "../../../src/chain/genesis-timestamp.ts";
import { PERMISSION_ADDRESS } from "../../../src/chain/permissions.ts";
import {
  checkGenesis,
  decodeGenesis,
  DEFAULT_GAS_LIMIT,
  DEFAULT_GENESIS_BALANCE,
  DEFAULT_GENESIS_TIMESTAMP,
  DEFAULT_TRANSACTION_GAS_MAX,
  encodeGenesis,
  genesisHash,
  type CarriedAccount,
  type GenesisAccount,
  type GenesisConfig,
} from "../../../src/chain/genesis.ts";
import { EMPTY_TRIE_ROOT } from "../../../src/chain/hash-constants.ts";
import { headerHash } from "../../../src/chain/header.ts";
import { listRoot } from "../../../src/chain/list-root.ts";
import { encodeReceipt } from "../../../src/chain/receipt.ts";
import { keccak256 } from "../../../src/crypto/keccak256.ts";

const NOW_MS = Date.UTC(2026, 0, 1);
const KEYS = [1, 2, 3, 4].map((byte) => new Uint8Array(32).fill(byte));
const CONFIG: GenesisConfig = {
  chainId: 5000n,
  timestamp: 1669939260n,
  gasLimit: DEFAULT_GAS_LIMIT,
  transactionGasMax: DEFAULT_TRANSACTION_GAS_MAX,
  alloc: [
    { address: 0xaan, balance: DEFAULT_GENESIS_BALANCE },
    { address: 0xbbn, balance: 5n },
  ],
  isWritePermissioned: false,
  isReadPermissioned: false,
  replicaPublicKeys: KEYS,
};

const CARRIED: GenesisConfig = {
  ...CONFIG,
  alloc: [
    ...CONFIG.alloc,
    {
      address: 0xccn,
      balance: 0n,
      carried: {
        isAdmin: false,
        nonce: 7n,
        code: Uint8Array.of(0x60, 1),
        storage: [
          [1n, 2n],
          [2n ** 255n, 3n],
        ],
      },
    },
    {
      address: 0xddn,
      balance: 1n,
      carried: { isAdmin: true, nonce: 0n, code: new Uint8Array(0), storage: [] },
    },
  ],
};

describe("genesis timestamp", () => {
  it("is read as UTC", () => {
    assert.deepEqual(parseTimestamp(DEFAULT_GENESIS_TIMESTAMP), { ok: true, value: 1669939260n });
  });

  it("agrees with the calendar for every second from 1970 to 9999", () => {
    const secondMax = Date.UTC(9999, 11, 31, 23, 59, 59) / 1000;
    fc.assert(
      fc.property(fc.integer({ min: 0, max: secondMax }), (second) => {
        const text = new Date(second * 1000).toISOString().slice(0, 19).replace("T", " ");
        assert.deepEqual(parseTimestamp(text), { ok: true, value: BigInt(second) }, text);
      }),
      { numRuns: 2000 },
    );
  });

  const refused = {
    GENESIS_TIMESTAMP_MALFORMED: [
      "",
      "2022-12-02",
      "2022-12-02T00:01:00",
      "2022-12-02 00:01:00Z",
      " 2022-12-02 00:01:00",
      "2022-12-02 00:01:00\n",
      "2022-12-2 00:01:00",
      "2022-12-02 0:01:00",
      "2022-12-02 00:01:00.0",
      "+022-12-02 00:01:00",
      "٢٠٢٢-12-02 00:01:00",
      "1669939260",
    ],
    GENESIS_TIMESTAMP_NOT_A_DATE: [
      "2022-13-02 00:01:00",
      "2022-00-02 00:01:00",
      "2022-02-29 00:01:00",
      "2100-02-29 00:01:00",
      "2022-04-31 00:01:00",
      "2022-12-00 00:01:00",
      "2022-12-02 24:00:00",
      "2022-12-02 23:60:00",
      "2022-12-02 23:59:60",
      "1969-12-31 23:59:59",
    ],
  };
  for (const [code, texts] of Object.entries(refused)) {
    for (const text of texts) {
      it(`refuses ${JSON.stringify(text)} with ${code}`, () => {
        const parsed = parseTimestamp(text);
        assert.equal(parsed.ok ? "accepted" : parsed.error.code, code);
      });
    }
  }

  it("knows the leap days of 2000 and 2024", () => {
    assert.ok(parseTimestamp("2000-02-29 00:00:00").ok);
    assert.ok(parseTimestamp("2024-02-29 00:00:00").ok);
  });
});

describe("genesis", () => {
  it("decodes what it encoded", () => {
    assert.deepEqual(decodeGenesis(encodeGenesis(CONFIG)), { ok: true, value: CONFIG });
    assert.deepEqual(decodeGenesis(encodeGenesis(CARRIED)), { ok: true, value: CARRIED });
  });

  it("has another hash whenever any value is another", () => {
    const changes: readonly Partial<GenesisConfig>[] = [
      {},
      { chainId: 5001n },
      { timestamp: CONFIG.timestamp + 1n },
      { gasLimit: 1n },
      { transactionGasMax: 1n },
      { alloc: CONFIG.alloc.toReversed() },
      { alloc: [] },
      { isWritePermissioned: true },
      { isReadPermissioned: true },
      { replicaPublicKeys: KEYS.toReversed() },
    ];
    const hashes = changes.map((change) => bytesToHex(genesisHash({ ...CONFIG, ...change })));
    assert.equal(new Set(hashes).size, changes.length);
  });

  it("keeps the hash that networks without carried accounts were founded on", () => {
    const known = "0x3c8b9e286857d396c79817b89abe2fb12930b46eed339c3d63dbb317c4a1ab0f";
    assert.equal(bytesToHex(genesisHash(CONFIG)), known);
  });

  it("with carried accounts is refused in any form but its own", () => {
    const encoded = encodeGenesis(CARRIED);
    for (let place = 0; place < encoded.length; place++) {
      for (const bit of [1, 2, 4, 0x40]) {
        const changed = encoded.slice();
        changed[place] = (changed[place] ?? 0) ^ bit;
        const decoded = decodeGenesis(changed);
        if (decoded.ok) assert.deepEqual(encodeGenesis(decoded.value), changed, `byte ${place}`);
      }
    }
  });

  it("is refused in any form but its own", () => {
    const encoded = encodeGenesis(CONFIG);
    for (let place = 0; place < encoded.length; place++) {
      const changed = encoded.slice();
      changed[place] = (changed[place] ?? 0) ^ 0x40;
      const decoded = decodeGenesis(changed);
      if (decoded.ok) assert.deepEqual(encodeGenesis(decoded.value), changed, `byte ${place}`);
    }
    const tagged = encoded.slice();
    tagged[4] = (tagged[4] ?? 0) ^ 1;
    const decoded = decodeGenesis(tagged);
    assert.equal(decoded.ok ? "accepted" : decoded.error.code, "GENESIS_TAG_UNKNOWN");
  });

  const rules: readonly (readonly [string, Partial<GenesisConfig>])[] = [
    ["GENESIS_CHAIN_ID_OUT_OF_RANGE", { chainId: 0n }],
    ["GENESIS_CHAIN_ID_OUT_OF_RANGE", { chainId: 2n ** 63n }],
    ["GENESIS_TIMESTAMP_IN_FUTURE", { timestamp: BigInt(NOW_MS / 1000 + 1) }],
    ["GENESIS_GAS_LIMIT_OUT_OF_RANGE", { gasLimit: 2n ** 60n }],
    ["GENESIS_TRANSACTION_GAS_OUT_OF_RANGE", { transactionGasMax: CONFIG.gasLimit + 1n }],
    ["GENESIS_TRANSACTION_GAS_OUT_OF_RANGE", { transactionGasMax: 20_999n }],
    ["GENESIS_PERMISSIONS_WITHOUT_ALLOC", { alloc: [], isWritePermissioned: true }],
    ["GENESIS_PERMISSIONS_WITHOUT_ALLOC", { alloc: [], isReadPermissioned: true }],
    ["GENESIS_ALLOC_ZERO_ADDRESS", { alloc: [{ address: 0n, balance: 1n }] }],
    ["GENESIS_ALLOC_DUPLICATE", { alloc: [...CONFIG.alloc, { address: 0xbbn, balance: 0n }] }],
    [
      "GENESIS_ALLOC_OVERFLOW",
      { alloc: [...CONFIG.alloc, { address: 1n, balance: 2n ** 256n - 1n }] },
    ],
    [
      "GENESIS_PERMISSIONS_WITHOUT_ALLOC",
      { alloc: [carried({ isAdmin: false })], isWritePermissioned: true },
    ],
    ["GENESIS_ALLOC_RESERVED", { alloc: [carried({}, PERMISSION_ADDRESS)] }],
    ["GENESIS_ALLOC_CODE_TOO_LARGE", { alloc: [carried({ code: new Uint8Array(24_577) })] }],
    ["GENESIS_ALLOC_STORAGE_UNSORTED", { alloc: [carried({ storage: [[1n, 0n]] })] }],
    [
      "GENESIS_ALLOC_STORAGE_UNSORTED",
      {
        alloc: [
          carried({
            storage: [
              [2n, 1n],
              [1n, 1n],
            ],
          }),
        ],
      },
    ],
    ["GENESIS_REPLICA_COUNT_WRONG", { replicaPublicKeys: KEYS.slice(1) }],
    ["GENESIS_REPLICA_COUNT_WRONG", { replicaPublicKeys: KEYS.slice(3) }],
    ["GENESIS_REPLICA_KEY_SIZE_WRONG", { replicaPublicKeys: KEYS.with(2, new Uint8Array(33)) }],
    [
      "GENESIS_REPLICA_KEY_DUPLICATE",
      { replicaPublicKeys: KEYS.with(2, new Uint8Array(32).fill(1)) },
    ],
  ];
  for (const [code, change] of rules) {
    it(`refuses ${Object.keys(change).join(" and ")} with ${code}`, () => {
      const codes = checkGenesis({ ...CONFIG, ...change }, NOW_MS).map((error) => error.code);
      assert.deepEqual(codes, [code]);
    });
  }

  it("accepts the defaults, an alloc with permissions, and no alloc without them", () => {
    assert.deepEqual(checkGenesis(CONFIG, NOW_MS), []);
    assert.deepEqual(checkGenesis({ ...CONFIG, isWritePermissioned: true }, NOW_MS), []);
    assert.deepEqual(checkGenesis({ ...CONFIG, alloc: [] }, NOW_MS), []);
    assert.deepEqual(checkGenesis(CONFIG, Number(CONFIG.timestamp) * 1000), []);
  });
});

describe("genesis block", () => {
  const stateRoot = new Uint8Array(32).fill(9);
  const genesis = createGenesisBlock(CONFIG, stateRoot);

  it("has exactly one transaction: unsigned, from the zero address, to the first account", () => {
    const { transaction, block } = genesis;
    const to = new Uint8Array(20);
    to[19] = 0xaa;
    const expected = RLP.encode([0, 0, 0, to, 0x7fffffffffffffffn, new Uint8Array(0), 0, 0, 0]);
    assert.deepEqual(block.transactions, [expected]);
    assert.deepEqual(transaction.hash, keccak256(expected));
    assert.equal(transaction.from, 0n);
    assert.equal(transaction.to, 0xaan);
    assert.equal(transaction.value, DEFAULT_GENESIS_BALANCE);
  });

  it("commits to its transaction, its receipt, the state and the genesis", () => {
    const { header } = genesis.block;
    assert.deepEqual(header.transactionsRoot, listRoot([genesis.transaction.encoded]));
    assert.deepEqual(header.receiptsRoot, listRoot([encodeReceipt(genesis.receipt)]));
    assert.notDeepEqual(header.receiptsRoot, EMPTY_TRIE_ROOT);
    assert.deepEqual(header.stateRoot, stateRoot);
    assert.deepEqual(header.mixHash, genesisHash(CONFIG));
    assert.deepEqual(genesis.hash, headerHash(header));
    assert.equal(header.number, 0n);
    assert.equal(header.timestamp, 1669939260n);
    assert.deepEqual(header.parentHash, new Uint8Array(32));
  });

  it("has a receipt of success that used no gas", () => {
    assert.equal(genesis.receipt.succeeded, true);
    assert.equal(genesis.receipt.cumulativeGasUsed, 0n);
  });

  it("has its one transaction also without any funded account", () => {
    const bare = createGenesisBlock({ ...CONFIG, alloc: [] }, stateRoot);
    assert.equal(bare.block.transactions.length, 1);
    assert.equal(bare.transaction.to, 0n);
    assert.equal(bare.transaction.value, 0n);
  });
});

function carried(account: Partial<CarriedAccount>, address = 0xeen): GenesisAccount {
  const plain = { isAdmin: true, nonce: 0n, code: new Uint8Array(0), storage: [] };
  return { address, balance: 0n, carried: { ...plain, ...account } };
}
