/** A chain in memory behind a real ethrpc on a free port, and the calls that tests make of it. */
import { bytesToHex, hexToBytes, type Hex } from "../../../src/base/hex.ts";
import { addressToHex } from "../../../src/chain/address.ts";
import { encodeTransaction } from "../../../src/chain/transaction-encoder.ts";
import { signAuthorization, signTransaction } from "../../../src/chain/transaction-sender.ts";
import type { UnsignedTransaction } from "../../../src/chain/transaction.ts";
import { createMethodTable } from "../../../src/rpc/methods/method-table.ts";
import type { MethodTable } from "../../../src/rpc/method.ts";
import {
  DEFAULT_RPC_LIMITS,
  DEFAULT_RPC_OPTIONS,
  type RpcLimits,
  type RpcOptions,
} from "../../../src/rpc/rpc-options.ts";
import { RpcServer } from "../../../src/rpc/server/rpc-server.ts";
import { MemoryChain } from "../../support/memory-chain.ts";
import { assemble, RETURN_TOP } from "../evm/bytecode.ts";
import { ADDRESSES, CHAIN_ID, GENESIS, KEYS } from "../execution/test-chain.ts";

export type RpcResponse = {
  readonly id: unknown;
  readonly jsonrpc: unknown;
  readonly method?: unknown;
  readonly result?: unknown;
  readonly error?: { readonly code: number; readonly message: string; readonly data?: unknown };
};

export type Reply = { readonly status: number; readonly headers: Headers; readonly text: string };

export const [ALICE = 0n, BOB = 0n, CAROL = 0n] = ADDRESSES;
/** Error("user error"). */
export const REVERT_DATA: Hex = bytesToHex(
  Buffer.concat([
    hexToBytes("0x08c379a0"),
    topic(32n),
    topic(10n),
    Buffer.from("user error".padEnd(32, "\0")),
  ]),
);

/** Contracts that are there from block 0. */
export const CONTRACTS = {
  /** Returns slot 0. */
  reader: 0x10n << 32n,
  /** Emits the first word of its data as second topic, with one word of data. */
  logger: 0x11n << 32n,
  /** Reverts with Error("user error"). */
  reverter: 0x12n << 32n,
  spinner: 0x13n << 32n,
  thrower: 0x14n << 32n,
} as const;
export const LOG_TOPIC = 0x656d6974n;

const CODES = {
  reader: `PUSH 0 SLOAD ${RETURN_TOP}`,
  logger: `PUSH 0 CALLDATALOAD PUSH ${LOG_TOPIC} PUSH 32 PUSH 0 LOG2 STOP`,
  reverter: `PUSH 100 PUSH 10 PUSH 0 CODECOPY PUSH 100 PUSH 0 REVERT ${REVERT_DATA}`,
  spinner: "JUMPDEST PUSH 0 JUMP",
  thrower: "INVALID",
} as const;

export type NodeOptions = Partial<Omit<RpcOptions, "limits">> & {
  readonly limits?: Partial<RpcLimits>;
  /** Instead of the methods over the chain. */
  readonly methods?: MethodTable;
};

export class RpcNode {
  readonly chain: MemoryChain;
  readonly server: RpcServer;
  readonly internalErrors: string[];

  private constructor(chain: MemoryChain, server: RpcServer, internalErrors: string[]) {
    this.chain = chain;
    this.server = server;
    this.internalErrors = internalErrors;
  }

  static async open({ limits = {}, methods, ...options }: NodeOptions = {}): Promise<RpcNode> {
    const names = Object.keys(CONTRACTS) as (keyof typeof CONTRACTS)[];
    const chain = new MemoryChain(GENESIS, {
      contracts: names.map((name) => ({
        address: CONTRACTS[name],
        code: assemble(CODES[name]),
        storage: name === "reader" ? [[0n, 42n]] : [],
      })),
    });
    const internalErrors: string[] = [];
    const server = await RpcServer.open(
      {
        ...DEFAULT_RPC_OPTIONS,
        port: 0,
        ...options,
        limits: { ...DEFAULT_RPC_LIMITS, ...limits },
      },
      {
        methods: methods ?? createMethodTable(chain, chain),
        onInternalError: (method, error) => internalErrors.push(`${method}: ${String(error)}`),
      },
    );
    return new RpcNode(chain, server, internalErrors);
  }

  close(): Promise<void> {
    return this.server.close();
  }

  url(path = "/"): string {
    return `http://127.0.0.1:${this.server.port}${path}`;
  }

  /** Any body by POST. */
  async post(
    body: string | Buffer<ArrayBuffer>,
    path = "/",
    headers: Record<string, string> = { "content-type": "application/json" },
  ): Promise<Reply> {
    const response = await fetch(this.url(path), { method: "POST", body, headers });
    return { status: response.status, headers: response.headers, text: await response.text() };
  }

  async request(path: string, method: string, params: readonly unknown[]): Promise<RpcResponse> {
    const { text } = await this.post(
      JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
      path,
    );
    return JSON.parse(text) as RpcResponse;
  }

  /** The result in the strict dialect; throws on an error. */
  async standard(method: string, ...params: readonly unknown[]): Promise<unknown> {
    return resultOf(method, await this.request("/standard", method, params));
  }

  /** The result in the legacy dialect; throws on an error. */
  async legacy(method: string, ...params: readonly unknown[]): Promise<unknown> {
    return resultOf(method, await this.request("/", method, params));
  }

  async send(keyIndex: number, fields: TransactionFields): Promise<Hex> {
    const encoded = signedTransaction(keyIndex, fields);
    return (await this.standard("eth_sendRawTransaction", bytesToHex(encoded))) as Hex;
  }

  /** Blocks 1 to 3 with transactions of every type, a creation, logs and failures. */
  async fill(): Promise<FilledChain> {
    const legacy = await this.send(0, { type: 0, to: BOB, value: 7n });
    const listed = await this.send(0, {
      type: 1,
      nonce: 1n,
      gasPrice: 3n,
      to: BOB,
      accessList: [{ address: BOB, storageKeys: [1n] }],
    });
    const priced = await this.send(1, {
      maxFeePerGas: 1_000n,
      maxPriorityFeePerGas: 5n,
      to: CAROL,
    });
    this.chain.seal();
    const created = await this.send(0, {
      nonce: 2n,
      to: undefined,
      data: hexToBytes("0x60015ff3"),
    });
    const delegation = { chainId: CHAIN_ID, address: CONTRACTS.reader, nonce: 0n };
    const delegating = await this.send(1, {
      type: 4,
      nonce: 1n,
      to: CONTRACTS.reader,
      authorizationList: [signAuthorization(delegation, KEYS[2]!)],
    });
    this.chain.seal();
    const logged = await this.send(0, { nonce: 3n, to: CONTRACTS.logger, data: topic(1n) });
    const loggedAgain = await this.send(0, { nonce: 4n, to: CONTRACTS.logger, data: topic(2n) });
    const reverted = await this.send(1, { nonce: 2n, to: CONTRACTS.reverter });
    this.chain.seal();
    return { legacy, listed, priced, created, delegating, logged, loggedAgain, reverted };
  }
}

export type FilledChain = Readonly<
  Record<
    | "legacy"
    | "listed"
    | "priced"
    | "created"
    | "delegating"
    | "logged"
    | "loggedAgain"
    | "reverted",
    Hex
  >
>;

type Fields<Type> = Partial<Omit<Extract<UnsignedTransaction, { type: Type }>, "type">>;
export type TransactionFields =
  | ({ readonly type: 0 } & Fields<0>)
  | ({ readonly type: 1 } & Fields<1>)
  | ({ readonly type?: 2 } & Fields<2>)
  | ({ readonly type: 4 } & Fields<4>);

export function signedTransaction(keyIndex: number, fields: TransactionFields): Uint8Array {
  const shared = {
    chainId: CHAIN_ID,
    nonce: 0n,
    gasLimit: 200_000n,
    to: 0xaaaan,
    value: 0n,
    data: new Uint8Array(0),
    gasPrice: 0n,
    maxFeePerGas: 0n,
    maxPriorityFeePerGas: 0n,
    accessList: [],
    authorizationList: [],
    type: 2,
    ...fields,
  };
  const unsigned = shared as UnsignedTransaction;
  return encodeTransaction(signTransaction(unsigned, KEYS[keyIndex]!));
}

export function topic(value: bigint): Uint8Array {
  return hexToBytes(word(value));
}

export function word(value: bigint): Hex {
  return `0x${value.toString(16).padStart(64, "0")}`;
}

export function hexOf(address: bigint): Hex {
  return addressToHex(address);
}

function resultOf(method: string, response: RpcResponse): unknown {
  if (response.error !== undefined) throw new Error(`${method}: ${response.error.message}`);
  return response.result;
}
