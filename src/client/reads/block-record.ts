/**
 * An Ethereum block as it is kept: the block itself, and beside it the receipts with the senders,
 * so that a read recovers no signature. Both are opaque bytes to the block store.
 */
import { invariant } from "../../base/invariant.ts";
import { ADDRESS_SIZE, addressToBytes, bytesToAddress } from "../../chain/address.ts";
import { decodeBlock, encodeBlock, type Block } from "../../chain/block.ts";
import type { BlockTransaction } from "../../chain/block-transaction.ts";
import type { GenesisBlock } from "../../chain/genesis-block.ts";
import { headerHash, type Header } from "../../chain/header.ts";
import { decodeReceipt, encodeReceipt, type Receipt } from "../../chain/receipt.ts";
import { decodeRlp, encodeRlp } from "../../chain/rlp/rlp.ts";
import { decodeTransaction } from "../../chain/transaction-decoder.ts";
import { keccak256 } from "../../crypto/keccak256.ts";

export type StoredBlockRecordBytes = {
  readonly ethereumBlock: Uint8Array;
  readonly receipts: Uint8Array;
};

export function encodeStoredBlockRecord(
  block: Block,
  senders: readonly bigint[],
  receipts: readonly Receipt[],
): StoredBlockRecordBytes {
  const packed = new Uint8Array(senders.length * ADDRESS_SIZE);
  senders.forEach((sender, index) => packed.set(addressToBytes(sender), index * ADDRESS_SIZE));
  return {
    ethereumBlock: encodeBlock(block),
    receipts: encodeRlp([packed, receipts.map(encodeReceipt)]),
  };
}

/** A block of the chain. What costs time is decoded when it is first asked for. */
export class StoredBlockRecord {
  readonly header: Header;
  readonly hash: Uint8Array;
  /** Of the block's encoding, in bytes. */
  readonly size: number;
  readonly #encoded: readonly Uint8Array[];
  readonly #receiptBytes: Uint8Array;
  #hashes: readonly Uint8Array[] | undefined;
  #transactions: readonly BlockTransaction[] | undefined;
  #receipts: readonly Receipt[] | undefined;

  /** For bytes that `encodeBlockRecord` wrote; they are copied. */
  static decode(bytes: StoredBlockRecordBytes): StoredBlockRecord {
    const ethereumBlock = Uint8Array.from(bytes.ethereumBlock);
    const block = decodeBlock(ethereumBlock);
    invariant(block.ok, "the store gives back what was put in");
    const receiptBytes = Uint8Array.from(bytes.receipts);
    const hash = headerHash(block.value.header);
    return new StoredBlockRecord(block.value, { hash, size: ethereumBlock.length, receiptBytes });
  }

  static ofGenesis(genesis: GenesisBlock): StoredBlockRecord {
    const { block, hash, transaction, receipt } = genesis;
    const size = encodeBlock(block).length;
    const record = new StoredBlockRecord(block, { hash, size, receiptBytes: new Uint8Array(0) });
    record.#transactions = [transaction];
    record.#receipts = [receipt];
    return record;
  }

  private constructor(
    { header, transactions }: Block,
    parts: {
      readonly hash: Uint8Array;
      readonly size: number;
      readonly receiptBytes: Uint8Array;
    },
  ) {
    this.header = header;
    this.#encoded = transactions;
    this.hash = parts.hash;
    this.size = parts.size;
    this.#receiptBytes = parts.receiptBytes;
  }

  /** What the store holds of it, in bytes. */
  get storedSize(): number {
    return this.size + this.#receiptBytes.length;
  }

  get transactionHashes(): readonly Uint8Array[] {
    this.#hashes ??= this.#encoded.map((encoded) => keccak256(encoded));
    return this.#hashes;
  }

  get transactions(): readonly BlockTransaction[] {
    this.#transactions ??= this.#decodeTransactions();
    return this.#transactions;
  }

  /** One for each transaction. */
  get receipts(): readonly Receipt[] {
    this.#receipts ??= this.#decodeReceipts();
    return this.#receipts;
  }

  #decodeTransactions(): BlockTransaction[] {
    const { senders } = splitReceipts(this.#receiptBytes);
    const hashes = this.transactionHashes;
    return this.#encoded.map((encoded, index) => {
      const transaction = decodeTransaction(encoded);
      const hash = hashes[index];
      invariant(transaction.ok && hash !== undefined, "what was executed had been decoded");
      const sender = senders.subarray(index * ADDRESS_SIZE, (index + 1) * ADDRESS_SIZE);
      return { encoded, hash, sender: bytesToAddress(sender), transaction: transaction.value };
    });
  }

  #decodeReceipts(): Receipt[] {
    return splitReceipts(this.#receiptBytes).items.map((item) => {
      const receipt = item instanceof Uint8Array ? decodeReceipt(item) : undefined;
      invariant(receipt?.ok === true, "the store gives back what was put in");
      return receipt.value;
    });
  }
}

function splitReceipts(bytes: Uint8Array): {
  readonly senders: Uint8Array;
  readonly items: readonly unknown[];
} {
  const list = decodeRlp(bytes);
  invariant(list.ok && !(list.value instanceof Uint8Array), "receipts are a list");
  const [senders, items] = list.value;
  const isWhole = senders instanceof Uint8Array && !(items instanceof Uint8Array);
  invariant(isWhole && items !== undefined, "of senders and receipts");
  return { senders, items };
}
