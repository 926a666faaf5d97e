import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { Common, Hardfork, Mainnet } from "@ethereumjs/common";
import { createTxFromRLP } from "@ethereumjs/tx";
import fc from "fast-check";
import { bytesToHex, hexToBytes } from "../../../src/base/hex.ts";
import { addressToHex, publicKeyToAddress } from "../../../src/chain/address.ts";
import { intrinsicGas } from "../../../src/chain/intrinsic-gas.ts";
import { encodeRlp, type RlpInput } from "../../../src/chain/rlp/rlp.ts";
import { decodeTransaction } from "../../../src/chain/transaction-decoder.ts";
import {
  encodeTransaction,
  legacyV,
  signingHash,
  transactionHash,
} from "../../../src/chain/transaction-encoder.ts";
import type { TransactionErrorCode } from "../../../src/chain/transaction-error.ts";
import {
  authorizationHash,
  recoverAuthority,
  recoverSender,
  recoverTransaction,
  signAuthorization,
} from "../../../src/chain/transaction-sender.ts";
import { checkTransaction } from "../../../src/chain/transaction-validity.ts";
import { authorizationListOf, type Transaction } from "../../../src/chain/transaction.ts";
import { publicKeyOf, recoverPublicKey } from "../../../src/crypto/secp256k1.ts";
import { CHAIN_ID, PRIVATE_KEY, signedTransaction } from "./transaction-samples.ts";

const SENDER = publicKeyToAddress(publicKeyOf(PRIVATE_KEY));
const ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;
const common = new Common({
  chain: { ...Mainnet, chainId: Number(CHAIN_ID) },
  hardfork: Hardfork.Prague,
});

/** Fields of a valid transaction of each type, to be spoiled one at a time. */
const ADDRESS = new Uint8Array(20).fill(0x11);
const NOTHING = new Uint8Array(0);
const legacy = (): RlpInput[] => [1, 2, 21_000, ADDRESS, 3, NOTHING, 27, 4, 5];
const accessListFields = (): RlpInput[] => [5000, 1, 2, 21_000, ADDRESS, 3, NOTHING, [], 0, 4, 5];
const feeMarket = (): RlpInput[] => [5000, 1, 2, 9, 21_000, ADDRESS, 3, NOTHING, [], 0, 4, 5];
const authorization = (): RlpInput[] => [5000, ADDRESS, 1, 0, 4, 5];
const setCode = (): RlpInput[] => [
  ...feeMarket().slice(0, 9),
  [authorization()],
  ...feeMarket().slice(9),
];

function typed(type: number, fields: readonly RlpInput[]): Uint8Array {
  const payload = encodeRlp(fields);
  return type === 0 ? payload : Uint8Array.of(type, ...payload);
}

function codeOf(bytes: Uint8Array): TransactionErrorCode | "accepted" {
  const decoded = decodeTransaction(bytes);
  return decoded.ok ? "accepted" : decoded.error.code;
}

describe("transaction", () => {
  it("encodes, hashes and recovers as @ethereumjs/tx does", () => {
    fc.assert(
      fc.property(signedTransaction, (transaction) => {
        const encoded = encodeTransaction(transaction);
        const theirs = createTxFromRLP(encoded, { common });
        assert.deepEqual(theirs.serialize(), encoded);
        assert.deepEqual(theirs.hash(), transactionHash(transaction));
        assert.deepEqual(theirs.getHashedMessageToSign(), signingHash(transaction));
        assert.equal(theirs.getSenderAddress().toString(), addressToHex(SENDER));
        assert.equal(recoverSender(transaction), SENDER);
        assert.equal(
          theirs.getIntrinsicGas(),
          BigInt(intrinsicGas(transaction, "prague").intrinsic),
        );
      }),
      { numRuns: 150 },
    );
  });

  it("decodes what it encoded, and recovers sender and hash in one call", () => {
    fc.assert(
      fc.property(signedTransaction, (transaction) => {
        const encoded = encodeTransaction(transaction);
        assert.deepEqual(decodeTransaction(encoded), { ok: true, value: transaction });
        const recovered = recoverTransaction(encoded);
        assert.ok(recovered.ok);
        assert.equal(recovered.value.sender, SENDER);
        assert.deepEqual(recovered.value.hash, transactionHash(transaction));
      }),
      { numRuns: 200 },
    );
  });

  it("changed bytes are refused or are another canonical transaction, and never throw", () => {
    fc.assert(
      fc.property(signedTransaction, fc.nat(), fc.nat(255), (transaction, place, byte) => {
        const encoded = encodeTransaction(transaction);
        encoded[place % encoded.length] = byte;
        const decoded = decodeTransaction(encoded);
        if (decoded.ok) assert.deepEqual(encodeTransaction(decoded.value), encoded);
      }),
      { numRuns: 1000 },
    );
  });

  it("signs the example of EIP-155 to the letter", () => {
    const encoded = hexToBytes(
      "0xf86c098504a817c800825208943535353535353535353535353535353535353535880de0b6b3a7640000" +
        "8025a028ef61340bd939bc2195fe537567866003e1a15d3c71ff63e1590620aa636276" +
        "a067cbe9d8997f761aecb703304b3800ccf555c9f3dc64214b297fb1966a3b6d83",
    );
    const recovered = recoverTransaction(encoded);
    assert.ok(recovered.ok);
    const { transaction, sender } = recovered.value;
    assert.ok(transaction.type === 0);
    assert.equal(transaction.chainId, 1n);
    assert.equal(legacyV(transaction), 37n);
    assert.equal(
      bytesToHex(signingHash(transaction)),
      "0xdaf5a779ae972f972197303d7b574746c7ef83eadac0f2791ad23db92e4c8e53",
    );
    assert.equal(addressToHex(sender), "0x9d8a62f656a8d1615c1294fd71e9cfb3e4855a4f");
  });
});

describe("transaction form", () => {
  it("accepts the fields that the following cases spoil", () => {
    for (const [type, fields] of [
      [0, legacy()],
      [1, accessListFields()],
      [2, feeMarket()],
      [4, setCode()],
    ] as const) {
      assert.equal(codeOf(typed(type, fields)), "accepted", `type ${type}`);
    }
  });

  const cases: readonly (readonly [string, TransactionErrorCode, Uint8Array])[] = [
    ["no bytes", "RLP_TRUNCATED", new Uint8Array(0)],
    ["a blob transaction", "TX_TYPE_BLOB_REFUSED", typed(3, feeMarket())],
    ["type 5", "TX_TYPE_UNKNOWN", typed(5, feeMarket())],
    ["an explicit type 0", "TX_TYPE_UNKNOWN", Uint8Array.of(0, ...encodeRlp(legacy()))],
    ["a byte string", "TX_TYPE_UNKNOWN", encodeRlp(new Uint8Array(60))],
    ["a type without content", "RLP_TRUNCATED", Uint8Array.of(2)],
    ["trailing bytes", "RLP_TRAILING_BYTES", Uint8Array.of(...typed(0, legacy()), 0)],
    ["a field too few", "RLP_FIELD_COUNT_WRONG", typed(0, legacy().slice(1))],
    ["a field too many", "RLP_FIELD_COUNT_WRONG", typed(2, [...feeMarket(), 1])],
    ["a list as nonce", "RLP_FIELD_NOT_BYTES", typed(0, legacy().with(0, []))],
    ["bytes as access list", "RLP_FIELD_NOT_LIST", typed(2, feeMarket().with(8, 1))],
    [
      "a zero byte as nonce",
      "RLP_FIELD_LEADING_ZERO",
      typed(0, legacy().with(0, Uint8Array.of(0))),
    ],
    ["the nonce 2^64-1", "TX_NONCE_TOO_LARGE", typed(0, legacy().with(0, 2n ** 64n - 1n))],
    ["the gas limit 2^64", "TX_GAS_LIMIT_TOO_LARGE", typed(0, legacy().with(2, 2n ** 64n))],
    ["a gas cost of 2^256", "TX_GAS_COST_OVERFLOW", typed(0, legacy().with(1, 2n ** 255n))],
    ["a value of 33 bytes", "RLP_FIELD_TOO_LARGE", typed(0, legacy().with(4, new Uint8Array(33)))],
    [
      "an address of 19 bytes",
      "RLP_FIELD_SIZE_WRONG",
      typed(0, legacy().with(3, new Uint8Array(19))),
    ],
    ["v 29", "TX_SIGNATURE_PARITY_INVALID", typed(0, legacy().with(6, 29))],
    ["v 34", "TX_SIGNATURE_PARITY_INVALID", typed(0, legacy().with(6, 34))],
    ["v 0", "TX_SIGNATURE_PARITY_INVALID", typed(0, legacy().with(6, 0))],
    ["a parity of 2", "TX_SIGNATURE_PARITY_INVALID", typed(2, feeMarket().with(9, 2))],
    ["r 0", "TX_SIGNATURE_R_OUT_OF_RANGE", typed(0, legacy().with(7, 0))],
    ["r at the order", "TX_SIGNATURE_R_OUT_OF_RANGE", typed(0, legacy().with(7, ORDER))],
    ["s 0", "TX_SIGNATURE_S_OUT_OF_RANGE", typed(0, legacy().with(8, 0))],
    ["s at the order", "TX_SIGNATURE_S_OUT_OF_RANGE", typed(0, legacy().with(8, ORDER))],
    ["s above half the order", "TX_SIGNATURE_S_HIGH", typed(0, legacy().with(8, ORDER / 2n + 1n))],
    ["a tip above the fee", "TX_PRIORITY_FEE_ABOVE_MAX_FEE", typed(2, feeMarket().with(2, 10))],
    [
      "a storage key of 31 bytes",
      "RLP_FIELD_SIZE_WRONG",
      typed(1, accessListFields().with(7, [[ADDRESS, [new Uint8Array(31)]]])),
    ],
    [
      "an access list entry of 3 fields",
      "RLP_FIELD_COUNT_WRONG",
      typed(1, accessListFields().with(7, [[ADDRESS, [], []]])),
    ],
    ["no authorizations", "TX_AUTHORIZATION_LIST_EMPTY", typed(4, setCode().with(9, []))],
    [
      "an authorization without address",
      "RLP_FIELD_SIZE_WRONG",
      typed(4, setCode().with(9, [authorization().with(1, NOTHING)])),
    ],
    [
      "an authorization nonce of 2^64",
      "RLP_FIELD_TOO_LARGE",
      typed(4, setCode().with(9, [authorization().with(2, 2n ** 64n)])),
    ],
    [
      "an authorization parity of 256",
      "RLP_FIELD_TOO_LARGE",
      typed(4, setCode().with(9, [authorization().with(3, 256)])),
    ],
    ["a set-code transaction that creates", "TX_TO_MISSING", typed(4, setCode().with(5, NOTHING))],
    [
      "lists nested too deep",
      "RLP_TOO_DEEP",
      typed(1, accessListFields().with(7, [[ADDRESS, [[[]]]]])),
    ],
  ];
  for (const [what, code, bytes] of cases) {
    it(`refuses ${what} with ${code}`, () => {
      assert.equal(codeOf(bytes), code);
    });
  }

  it("accepts the edges: the nonce 2^64-2, half the order, an unusable authorization", () => {
    assert.equal(codeOf(typed(0, legacy().with(0, 2n ** 64n - 2n))), "accepted");
    assert.equal(codeOf(typed(0, legacy().with(8, ORDER / 2n))), "accepted");
    const unusable = authorization()
      .with(2, 2n ** 64n - 1n)
      .with(3, 255)
      .with(4, 2n ** 256n - 1n);
    assert.equal(codeOf(typed(4, setCode().with(9, [unusable]))), "accepted");
  });
});

describe("checkTransaction", () => {
  const rules = { chainId: CHAIN_ID, fork: "prague", transactionGasMax: 16_777_216n } as const;
  const base: Transaction = {
    type: 2,
    chainId: CHAIN_ID,
    nonce: 0n,
    maxPriorityFeePerGas: 0n,
    maxFeePerGas: 0n,
    gasLimit: 1_000_000n,
    to: 1n,
    value: 0n,
    data: NOTHING,
    accessList: [],
    yParity: 0,
    r: 1n,
    s: 1n,
  };
  const check = (change: object, fork: "cancun" | "prague" = "prague"): string | undefined =>
    checkTransaction({ ...base, ...change }, { ...rules, fork })?.code;

  it("accepts a plain transfer at exactly 21000 gas and refuses one less", () => {
    assert.equal(check({ gasLimit: 21_000n }), undefined);
    assert.equal(check({ gasLimit: 20_999n }), "TX_INTRINSIC_GAS_TOO_LOW");
  });

  it("refuses another chain's transaction and accepts one for every chain", () => {
    assert.equal(check({ chainId: 1n }), "TX_CHAIN_ID_WRONG");
    assert.equal(check({ type: 0, gasPrice: 0n, chainId: undefined }), undefined);
    assert.equal(check({ type: 0, gasPrice: 0n, chainId: 0n }), "TX_CHAIN_ID_WRONG");
  });

  it("bounds the gas of one transaction and the size of init code", () => {
    assert.equal(check({ gasLimit: 16_777_216n }), undefined);
    assert.equal(check({ gasLimit: 16_777_217n }), "TX_GAS_LIMIT_ABOVE_MAXIMUM");
    const create = { to: undefined, gasLimit: 16_000_000n };
    assert.equal(check({ ...create, data: new Uint8Array(49_152) }), undefined);
    assert.equal(check({ ...create, data: new Uint8Array(49_153) }), "TX_INITCODE_TOO_LARGE");
    assert.equal(check({ gasLimit: 16_000_000n, data: new Uint8Array(49_153) }), undefined);
  });

  it("asks for the data floor since Prague only (EIP-7623)", () => {
    const data = new Uint8Array(100).fill(1);
    assert.equal(check({ data, gasLimit: 25_000n }), undefined);
    assert.equal(check({ data, gasLimit: 24_999n }), "TX_FLOOR_GAS_TOO_LOW");
    assert.equal(check({ data, gasLimit: 24_999n }, "cancun"), undefined);
  });

  it("knows EIP-7702 since Prague only, at 25000 gas for each authorization", () => {
    const authorizationList = [
      signAuthorization({ chainId: 0n, address: 1n, nonce: 0n }, PRIVATE_KEY),
    ];
    const setCodeFields = { type: 4, authorizationList };
    assert.equal(check({ ...setCodeFields, gasLimit: 46_000n }), undefined);
    assert.equal(check({ ...setCodeFields, gasLimit: 45_999n }), "TX_INTRINSIC_GAS_TOO_LOW");
    assert.equal(check(setCodeFields, "cancun"), "TX_TYPE_NOT_ACTIVE");
  });
});

describe("recoverAuthority", () => {
  const consent = signAuthorization({ chainId: CHAIN_ID, address: 7n, nonce: 3n }, PRIVATE_KEY);

  it("gives the account that signed, on its chain or with chain id 0", () => {
    assert.equal(recoverAuthority(consent, CHAIN_ID), SENDER);
    assert.equal(recoverAuthority(consent, 1n), undefined);
    const anywhere = signAuthorization({ ...consent, chainId: 0n }, PRIVATE_KEY);
    assert.equal(recoverAuthority(anywhere, 1n), SENDER);
  });

  it("skips signatures that are high, out of range or of no parity, and unreachable nonces", () => {
    const high = { ...consent, s: ORDER - consent.s, yParity: 1 - consent.yParity };
    for (const bad of [
      high,
      { ...consent, yParity: 2 },
      { ...consent, r: 0n },
      { ...consent, s: 0n },
      { ...consent, r: 2n ** 256n - 1n },
      { ...consent, nonce: 2n ** 64n - 1n },
    ]) {
      assert.equal(recoverAuthority(bad, CHAIN_ID), undefined);
    }
  });

  it("skips a parity of 2 also where the curve has a point for it", () => {
    // Recovery id 2 stands for x = r + order, which exists for some of the smallest r only.
    const signature = new Uint8Array(64);
    signature[63] = 1;
    let found = 0;
    for (let r = 1; r <= 40; r++) {
      const unusual = { ...consent, r: BigInt(r), s: 1n, yParity: 2 };
      signature[31] = r;
      if (recoverPublicKey(authorizationHash(unusual), signature, 2) === undefined) continue;
      found++;
      assert.equal(recoverAuthority(unusual, CHAIN_ID), undefined, `r ${r}`);
    }
    assert.ok(found > 0, "the case exists");
  });

  it("recovers every authority of a decoded transaction", () => {
    fc.assert(
      fc.property(signedTransaction, (transaction) => {
        for (const each of authorizationListOf(transaction)) {
          assert.equal(recoverAuthority(each, CHAIN_ID), SENDER);
        }
      }),
      { numRuns: 50 },
    );
  });
});
