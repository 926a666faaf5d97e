/** Runs fuzz cases with @ethereumjs/vm: slow, but not ours. */
import { type Block, createBlock } from "@ethereumjs/block";
import { type Common, createCustomCommon, Mainnet } from "@ethereumjs/common";
import { MerkleStateManager } from "@ethereumjs/statemanager";
import {
  createAccessList2930Tx,
  createEOACode7702Tx,
  createFeeMarket1559Tx,
  createLegacyTx,
  type TypedTransaction,
} from "@ethereumjs/tx";
import {
  type Address,
  createAccount,
  createAddressFromString,
  type PrefixedHexString,
} from "@ethereumjs/util";
import { createVM, runTx, type VM } from "@ethereumjs/vm";

import { bytesToHex, type Hex, hexToBytes } from "../../../src/base/hex.ts";
import { keccak256 } from "../../../src/crypto/keccak256.ts";
import type { ConcreteTransaction, TransactionOutcome } from "./concrete-transaction.ts";
import { senderAddress } from "./authorization.ts";
import {
  FUZZ_BLOCK_GAS_LIMIT,
  FUZZ_BLOCK_NUMBER,
  FUZZ_CHAIN_ID,
  FUZZ_TIMESTAMP,
  type FuzzCase,
} from "./fuzz-case.ts";

/** Random input never passes the hash check before it; conformance proves the real thing. */
const NO_KZG = { verifyProof: (): boolean => false };

const REFUSALS =
  /enough funds|correct nonce|INTRINSIC_GAS_TOO_LOW|less than the block's base|not EOA|higher gas/;

export class Oracle {
  readonly #vm: VM;
  readonly #state: MerkleStateManager;
  readonly #block: Block;
  readonly #common: Common;

  private constructor(vm: VM, state: MerkleStateManager, block: Block, common: Common) {
    this.#vm = vm;
    this.#state = state;
    this.#block = block;
    this.#common = common;
  }

  static async open(fuzzCase: FuzzCase): Promise<Oracle> {
    const common = createCustomCommon({ chainId: FUZZ_CHAIN_ID }, Mainnet, {
      hardfork: fuzzCase.fork,
      customCrypto: { keccak256, kzg: NO_KZG as never },
    });
    const stateManager = new MerkleStateManager({ common });
    // BLOCKHASH asks the chain for ancestors: a stand-in whose hashes are those of the numbers.
    const blockchain = {
      getBlock: (number: bigint) => Promise.resolve({ hash: () => numberHash(number) }),
      shallowCopy: () => blockchain,
    };
    const vm = await createVM({ common, stateManager, blockchain: blockchain as never });
    for (const account of fuzzCase.accounts) {
      const address = createAddressFromString(account.address);
      await stateManager.putAccount(
        address,
        createAccount({ balance: BigInt(account.balance), nonce: BigInt(account.nonce) }),
      );
      if (account.code !== "0x") await stateManager.putCode(address, hexToBytes(account.code));
      for (const [slot, value] of Object.entries(account.storage)) {
        await stateManager.putStorage(address, hexToBytes(slot), trimmed(hexToBytes(value)));
      }
    }
    await stateManager.flush();
    const block = createBlock(
      {
        header: {
          number: FUZZ_BLOCK_NUMBER,
          timestamp: FUZZ_TIMESTAMP,
          gasLimit: FUZZ_BLOCK_GAS_LIMIT,
          baseFeePerGas: fuzzCase.baseFee,
          coinbase: fuzzCase.coinbase,
          mixHash: numberHash(1n),
        },
      },
      { common, skipConsensusFormatValidation: true },
    );
    return new Oracle(vm, stateManager, block, common);
  }

  async nonceOf(sender: number): Promise<bigint> {
    const address = createAddressFromString(senderAddress(sender));
    return (await this.#state.getAccount(address))?.nonce ?? 0n;
  }

  async stateRoot(): Promise<Hex> {
    await this.#state.flush();
    return bytesToHex(await this.#state.getStateRoot());
  }

  async run(transaction: ConcreteTransaction): Promise<TransactionOutcome> {
    let result;
    try {
      const tx = this.#toTransaction(transaction);
      const sender = createAddressFromString(transaction.sender);
      // Signatures are not what is tested here, and cost milliseconds each in the oracle.
      (tx as { getSenderAddress: () => Address }).getSenderAddress = () => sender;
      result = await runTx(this.#vm, { tx, block: this.#block });
    } catch (error) {
      // Anything but a refusal by the rules is a fault of the oracle or of the generator.
      if (!(error instanceof Error) || !REFUSALS.test(error.message)) throw error;
      return { kind: "refused" };
    }
    const { execResult, createdAddress } = result;
    return {
      kind: "executed",
      succeeded: execResult.exceptionError === undefined,
      gasUsed: result.totalGasSpent,
      output: bytesToHex(execResult.returnValue),
      logs: (execResult.logs ?? []).map(([address, topics, data]) =>
        [address, ...topics, data].map(bytesToHex).join(" "),
      ),
      createdAddress: createdAddress?.toString(),
    };
  }

  #toTransaction(transaction: ConcreteTransaction): TypedTransaction {
    const { type, maxFee, priorityFee } = transaction;
    const options = { common: this.#common, freeze: false };
    const body = {
      nonce: transaction.nonce,
      gasLimit: transaction.gasLimit,
      value: transaction.value,
      data: transaction.data,
      ...(transaction.to === undefined ? {} : { to: transaction.to }),
    };
    if (type === 0) return createLegacyTx({ ...body, gasPrice: maxFee }, options);
    const accessList = transaction.accessList.map(({ address, slots }) => ({
      address,
      storageKeys: [...slots],
    }));
    const typed = { ...body, chainId: FUZZ_CHAIN_ID, accessList };
    if (type === 1) return createAccessList2930Tx({ ...typed, gasPrice: maxFee }, options);
    const priced = { ...typed, maxFeePerGas: maxFee, maxPriorityFeePerGas: priorityFee };
    if (type === 2) return createFeeMarket1559Tx(priced, options);
    const authorizationList = transaction.authorizations.map((authorization) => ({
      chainId: quantity(authorization.chainId),
      address: authorization.address,
      nonce: quantity(authorization.nonce),
      yParity: quantity(BigInt(authorization.yParity)),
      r: quantity(authorization.r),
      s: quantity(authorization.s),
    }));
    return createEOACode7702Tx({ ...priced, authorizationList }, options);
  }
}

/** What stands for the hash of block `number` in both engines. */
export function numberHash(number: bigint): Uint8Array {
  return keccak256(new TextEncoder().encode(number.toString()));
}

function quantity(value: bigint): PrefixedHexString {
  const digits = value.toString(16);
  return `0x${digits.length % 2 === 0 ? digits : `0${digits}`}`;
}

function trimmed(bytes: Uint8Array): Uint8Array {
  const start = bytes.findIndex((byte) => byte !== 0);
  return start < 0 ? new Uint8Array(0) : bytes.subarray(start);
}
