/** Transactions of the development accounts on a running network. */
import { bytesToHex, hexToBytes, type Hex } from "../../src/base/hex.ts";
import { encodeTransaction } from "../../src/chain/transaction-encoder.ts";
import { signTransaction } from "../../src/chain/transaction-sender.ts";
import { waitFor, type RunningNetwork } from "./processes/network-process.ts";

/** Resolves when it is final. */
export async function sendOne(network: RunningNetwork, nonce: number): Promise<void> {
  const hash = await network.rpc("eth_sendRawTransaction", [transferOf(network, nonce)]);
  const isFinal = async (): Promise<boolean> =>
    (await network.rpc("eth_getTransactionReceipt", [hash])) !== null;
  await waitFor(isFinal, `transaction ${nonce} is final`);
}

function transferOf(network: RunningNetwork, nonce: number): Hex {
  const [sender, receiver] = network.accounts;
  const transaction = signTransaction(
    {
      type: 2,
      chainId: network.chainId,
      nonce: BigInt(nonce),
      maxPriorityFeePerGas: 0n,
      maxFeePerGas: 0n,
      gasLimit: 21_000n,
      to: BigInt(receiver!.address),
      value: 1n,
      data: new Uint8Array(0),
      accessList: [],
    },
    hexToBytes(sender!.privateKey),
  );
  return bytesToHex(encodeTransaction(transaction));
}
