/**
 * The load as a process of its own, so that its CPU time can be told from the network's. The parent
 * says what to run; everything is signed before the clock starts.
 */
import { hexToBytes } from "../../src/base/hex.ts";
import { createdAddress } from "../../src/chain/address.ts";
import { callData, creationCode } from "../support/contract-bytecode.ts";
import { measureLatency, runLoad, type LoadResult, type Pace } from "../../src/cli/bench/load.ts";
import { RpcConnection } from "../../src/cli/bench/rpc-connection.ts";
import {
  createSenders,
  senderOfKey,
  signNext,
  type Call,
  type SignedTransaction,
} from "../../src/cli/bench/senders.ts";

export type Plan = {
  readonly url: string;
  readonly chainId: string;
  /** Of an account that has coins. */
  readonly funderKey: string;
  readonly senderCount: number;
};

export type Transfers = "value" | "erc20";

export type Order =
  | { readonly kind: "prepare"; readonly plan: Plan }
  | { readonly kind: "latency"; readonly transfers: Transfers; readonly count: number }
  | {
      readonly kind: "sign";
      readonly transfers: Transfers;
      readonly count: number;
      readonly connectionCount: number;
    }
  | { readonly kind: "load"; readonly pace: Pace; readonly seconds: number }
  | { readonly kind: "end" };

export type Report =
  | { readonly kind: "done" }
  | { readonly kind: "latencies"; readonly latencies: readonly number[] }
  | { readonly kind: "loaded"; readonly result: LoadResult; readonly cpuSeconds: number }
  | { readonly kind: "failed"; readonly reason: string };

const COINS = 10n ** 12n;
const TRANSFER_GAS = 21_000n;
const TOKEN_GAS = 100_000n;
const DEPLOY_GAS = 3_000_000n;

class Generator {
  readonly #plan: Plan;
  readonly #chainId: bigint;
  readonly #senders;
  #token = 0n;
  #queues: readonly (readonly SignedTransaction[])[] = [];
  #round = 0;

  constructor(plan: Plan) {
    this.#plan = plan;
    this.#chainId = BigInt(plan.chainId);
    this.#senders = createSenders(plan.senderCount);
  }

  /** Deploys the token and gives every sender coins of both kinds. */
  async prepare(): Promise<void> {
    const { url, funderKey } = this.#plan;
    const connection = await RpcConnection.open(url);
    const funder = senderOfKey(hexToBytes(funderKey));
    const address = `0x${funder.address.toString(16).padStart(40, "0")}`;
    funder.nonce = BigInt(
      String(await connection.call("eth_getTransactionCount", [address, "latest"])),
    );
    this.#token = createdAddress(funder.address, funder.nonce);
    const deployment = { to: undefined, value: 0n, data: creationCode("Token") };
    const calls: Call[] = [{ ...deployment, gasLimit: DEPLOY_GAS }];
    for (const { address: to } of this.#senders) {
      calls.push({ to, value: COINS, data: new Uint8Array(0), gasLimit: TRANSFER_GAS });
      const data = callData("Token", "mint(address,uint256)", to, COINS);
      calls.push({ to: this.#token, value: 0n, data, gasLimit: TOKEN_GAS });
    }
    let last = "";
    for (const call of calls) {
      const { hash, body } = signNext(funder, this.#chainId, call);
      await connection.send(body);
      last = hash;
    }
    while ((await connection.call("eth_getTransactionReceipt", [last])) === null) {
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    connection.close();
  }

  sign(transfers: Transfers, count: number, connectionCount: number): void {
    const queues = Array.from({ length: connectionCount }, (): SignedTransaction[] => []);
    for (let index = 0; index < count; index++) {
      const sender = index % this.#senders.length;
      // A sender stays with its connection: its transactions arrive in the order of their nonces.
      queues[sender % connectionCount]?.push(this.#sign(transfers, sender));
    }
    this.#queues = queues;
  }

  async measureLatency(transfers: Transfers, count: number): Promise<readonly number[]> {
    const signed = Array.from({ length: count }, (_, index) =>
      this.#sign(transfers, index % this.#senders.length),
    );
    return measureLatency(this.#plan.url, signed);
  }

  async load(pace: Pace, seconds: number): Promise<Report> {
    const before = process.cpuUsage();
    const result = await runLoad(this.#plan.url, this.#queues, pace, seconds);
    const { user, system } = process.cpuUsage(before);
    await this.#readNonces();
    return { kind: "loaded", result, cpuSeconds: (user + system) / 1e6 };
  }

  /** Not all that was signed was sent. */
  async #readNonces(): Promise<void> {
    const connection = await RpcConnection.open(this.#plan.url);
    for (const sender of this.#senders) {
      const address = `0x${sender.address.toString(16).padStart(40, "0")}`;
      const count = await connection.call("eth_getTransactionCount", [address, "latest"]);
      sender.nonce = BigInt(String(count));
    }
    connection.close();
  }

  #sign(transfers: Transfers, index: number): SignedTransaction {
    const sender = this.#senders[index];
    if (sender === undefined) throw new Error("no such sender");
    this.#round++;
    const to = this.#senders[(index + this.#round) % this.#senders.length]?.address ?? 0n;
    const call =
      transfers === "value"
        ? { to, value: 1n, data: new Uint8Array(0), gasLimit: TRANSFER_GAS }
        : {
            to: this.#token,
            value: 0n,
            data: callData("Token", "transfer(address,uint256)", to, 1n),
            gasLimit: TOKEN_GAS,
          };
    return signNext(sender, this.#chainId, call);
  }
}

let generator: Generator | undefined;

async function obey(order: Order): Promise<Report> {
  if (order.kind === "prepare") {
    generator = new Generator(order.plan);
    await generator.prepare();
    return { kind: "done" };
  }
  if (order.kind === "end") {
    process.disconnect?.();
    return { kind: "done" };
  }
  if (generator === undefined) throw new Error("prepare comes first");
  switch (order.kind) {
    case "latency":
      return {
        kind: "latencies",
        latencies: await generator.measureLatency(order.transfers, order.count),
      };
    case "sign":
      generator.sign(order.transfers, order.count, order.connectionCount);
      return { kind: "done" };
    case "load":
      return generator.load(order.pace, order.seconds);
  }
}

process.on("message", (order: Order) => {
  obey(order).then(
    (report) => process.connected && process.send?.(report),
    (error: unknown) => process.send?.({ kind: "failed", reason: String(error) }),
  );
});
