/** Sender recovery: ours (native), the fallback (noble) and @ethereumjs/tx, side by side. */
import { Common, Hardfork, Mainnet } from "@ethereumjs/common";
import { createTxFromRLP } from "@ethereumjs/tx";
import { addressToHex, publicKeyToAddress } from "../src/chain/address.ts";
import { decodeTransaction } from "../src/chain/transaction-decoder.ts";
import { encodeTransaction, signingHash } from "../src/chain/transaction-encoder.ts";
import { recoverTransaction, signTransaction } from "../src/chain/transaction-sender.ts";
import { writeBigEndian } from "../src/base/big-endian.ts";
import { invariant } from "../src/base/invariant.ts";
import { loadNobleSecp256k1 } from "../src/crypto/secp256k1/secp256k1-noble.ts";
import { isNative } from "../src/crypto/secp256k1.ts";

type Contestant = {
  readonly name: string;
  /** From the bytes on the wire to the sender's address in text. */
  readonly recover: (encoded: Uint8Array) => string;
  readonly countPerRound: number;
};

const ROUND_COUNT = 7;
const TRANSACTION_COUNT = 64;
const CHAIN_ID = 5000n;

/** Contestants take turns, so that a busy moment of the machine is shared among them. */
export function benchRecover(): void {
  const transactions = createTransactions();
  const contestants = createContestants();
  const [reference] = contestants;
  invariant(reference !== undefined, "there is someone to compare");
  for (const encoded of transactions) {
    const senders = new Set(contestants.map(({ recover }) => recover(encoded)));
    invariant(senders.size === 1, "all contestants recover the same sender");
  }
  const samples = contestants.map((): number[] => []);
  for (let round = 0; round < ROUND_COUNT; round++) {
    for (const [index, contestant] of contestants.entries()) {
      samples[index]?.push(cpuMicroseconds(contestant, transactions));
    }
  }
  console.log("sender recovery from raw bytes: CPU microseconds each, median of the rounds");
  const base = median(samples[0] ?? []);
  for (const [index, { name }] of contestants.entries()) {
    const value = median(samples[index] ?? []);
    console.log(
      `  ${name.padEnd(28)} ${value.toFixed(1).padStart(8)}  x${(value / base).toFixed(1)}`,
    );
  }
}

function createContestants(): readonly Contestant[] {
  const noble = loadNobleSecp256k1();
  const common = new Common({
    chain: { ...Mainnet, chainId: Number(CHAIN_ID) },
    hardfork: Hardfork.Prague,
  });
  return [
    {
      name: isNative ? "quorate (native)" : "quorate (NO NATIVE BINDING)",
      countPerRound: 512,
      recover(encoded) {
        const recovered = recoverTransaction(encoded);
        invariant(recovered.ok, "the transaction is valid");
        return addressToHex(recovered.value.sender);
      },
    },
    {
      name: "quorate (noble fallback)",
      countPerRound: 48,
      recover(encoded) {
        const decoded = decodeTransaction(encoded);
        invariant(decoded.ok, "the transaction is valid");
        const { r, s, yParity } = decoded.value;
        const signature = new Uint8Array(64);
        writeBigEndian(r, signature, 0, 32);
        writeBigEndian(s, signature, 32, 32);
        const publicKey = noble.recoverPublicKey(signingHash(decoded.value), signature, yParity);
        invariant(publicKey !== undefined, "the signature is valid");
        return addressToHex(publicKeyToAddress(publicKey));
      },
    },
    {
      name: "@ethereumjs/tx",
      countPerRound: 48,
      recover: (encoded) => createTxFromRLP(encoded, { common }).getSenderAddress().toString(),
    },
  ];
}

/** ERC-20 transfers of different senders. */
function createTransactions(): readonly Uint8Array[] {
  return Array.from({ length: TRANSACTION_COUNT }, (_, index) => {
    const data = new Uint8Array(68).fill(index + 1);
    data.set([0xa9, 0x05, 0x9c, 0xbb]);
    const unsigned = {
      type: 2,
      chainId: CHAIN_ID,
      nonce: BigInt(index),
      maxPriorityFeePerGas: 0n,
      maxFeePerGas: 0n,
      gasLimit: 60_000n,
      to: 0x1234567890123456789012345678901234567890n,
      value: 0n,
      data,
      accessList: [],
    } as const;
    return encodeTransaction(signTransaction(unsigned, new Uint8Array(32).fill(index + 1)));
  });
}

function cpuMicroseconds(contestant: Contestant, transactions: readonly Uint8Array[]): number {
  const before = process.cpuUsage();
  for (let index = 0; index < contestant.countPerRound; index++) {
    contestant.recover(transactions[index % transactions.length] ?? new Uint8Array(0));
  }
  const { user, system } = process.cpuUsage(before);
  return (user + system) / contestant.countPerRound;
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1] ?? Number.NaN;
}
