/** Accounts of the load, and their transactions, signed before any of them is sent. */
import { bytesToHex, type Hex } from "../../base/hex.ts";
import { publicKeyToAddress } from "../../chain/address.ts";
import { encodeTransaction } from "../../chain/transaction-encoder.ts";
import { signTransaction } from "../../chain/transaction-sender.ts";
import { keccak256 } from "../../crypto/keccak256.ts";
import { publicKeyOf } from "../../crypto/secp256k1.ts";
import { requestBody } from "./rpc-connection.ts";

export type BenchSender = {
  readonly privateKey: Uint8Array;
  readonly address: bigint;
  nonce: bigint;
};

export type Call = {
  readonly to: bigint | undefined;
  readonly value: bigint;
  readonly data: Uint8Array;
  readonly gasLimit: bigint;
};

/** With the whole request that submits it. */
export type SignedTransaction = { readonly hash: Hex; readonly body: string };

export function createSenders(count: number): BenchSender[] {
  return Array.from({ length: count }, (_, index) => {
    return senderOfKey(keccak256(new TextEncoder().encode(`quorate bench sender ${index}`)));
  });
}

export function senderOfKey(privateKey: Uint8Array): BenchSender {
  return { privateKey, address: publicKeyToAddress(publicKeyOf(privateKey)), nonce: 0n };
}

/** Uses up the sender's next nonce. */
export function signNext(sender: BenchSender, chainId: bigint, call: Call): SignedTransaction {
  const { privateKey, nonce } = sender;
  sender.nonce++;
  const fees = { maxPriorityFeePerGas: 0n, maxFeePerGas: 0n };
  const unsigned = { type: 2, chainId, nonce, ...fees, ...call, accessList: [] } as const;
  const bytes = encodeTransaction(signTransaction(unsigned, privateKey));
  const body = requestBody("eth_sendRawTransaction", [bytesToHex(bytes)]);
  return { hash: bytesToHex(keccak256(bytes)), body };
}
