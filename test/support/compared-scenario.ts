/** The same signed transactions for two networks: what contracts can do, well and badly. */
import { getCreate2Address, getContractAddress, keccak256, type Hex } from "viem";
import { privateKeyToAccount, type PrivateKeyAccount } from "viem/accounts";
import { creationCode } from "../../bench/support/contract-bytecode.ts";
import { bytesToHex } from "../../src/base/hex.ts";

export type ScenarioTransaction = {
  readonly name: string;
  readonly raw: Hex;
  readonly hash: Hex;
  /** As eth_call and its kin take it. */
  readonly call: { readonly from: Hex; readonly to?: Hex; readonly data: Hex; readonly value: Hex };
};

/** Runtime code by hand: small enough to be read, and no compiler is in the way. */
const RUNTIME = {
  /** Salt and init code in, CREATE2, the address out. */
  factory: "6020360360205f375f35602036035f34f55f5260205ff3",
  /** Reverts with what it is called with. */
  reverter: "365f5f37365ffd",
  /** A log with 0 topics, one with 1, and so on to 4; the data is the first word. */
  logger:
    "5f355f52" +
    "60205fa0" +
    "600160205fa1" +
    "6002600160205fa2" +
    "60036002600160205fa3" +
    "600460036002600160205fa4" +
    "00",
  /** STATICCALLs the address of the first word with the rest, logs the output and stores success
   * plus one: a slot that is set to zero counts in Anvil's storage roots, against the rules. */
  precompileCaller: "6020360360205f375f5f602036035f5f355afa6001013d5f5f3e5f35555f353d5fa100",
  /** An endless loop. */
  burner: "5b5f56",
} as const;

const WORD = 32;
const TRANSFER = "a9059cbb";
const MINT = "40c10f19";
export const RECIPIENT: Hex = "0x00000000000000000000000000000000000a11ce";
/** An error with two words, as Solidity encodes it. */
const CUSTOM_ERROR: Hex = `0xcf479181${word(1n)}${word(2n)}`;
const SALT = word(7n);

/** Inputs from the texts that define them, or such as give an output at all. */
const PRECOMPILE_INPUTS: readonly (readonly [address: bigint, input: string])[] = [
  [1n, "11".repeat(128)],
  [2n, "616263"],
  [3n, "616263"],
  [4n, "00010203"],
  [5n, `${word(1n)}${word(1n)}${word(1n)}030507`],
  [6n, `${word(1n)}${word(2n)}${word(1n)}${word(2n)}`],
  [7n, `${word(1n)}${word(2n)}${word(9n)}`],
  [8n, ""],
  [9n, "00"],
  [0xan, "00"],
  [0xbn, "00".repeat(256)],
  [0xfn, ""],
];

export type Scenario = {
  readonly transactions: readonly ScenarioTransaction[];
  readonly addresses: Readonly<
    Record<"token" | "factory" | "reverter" | "logger" | "precompileCaller" | "child", Hex>
  >;
};

export async function createScenario(keys: readonly Hex[], chainId: number): Promise<Scenario> {
  const [first, second] = keys.map((key) => privateKeyToAccount(key));
  const signer = new Signer(first!, chainId);
  const other = new Signer(second!, chainId);
  const token = await signer.add("deploy token", { data: bytesToHex(creationCode("Token")) });
  const deploy = (name: keyof typeof RUNTIME): Promise<Hex> =>
    signer.add(`deploy ${name}`, { data: initCode(RUNTIME[name]) });
  const factory = await deploy("factory");
  const reverter = await deploy("reverter");
  const logger = await deploy("logger");
  const precompileCaller = await deploy("precompileCaller");
  const burner = await deploy("burner");
  const tokenCall = (selector: string, to: Hex, value: bigint): Hex =>
    `0x${selector}${word(BigInt(to))}${word(value)}`;
  await signer.add("mint", { to: token, data: tokenCall(MINT, first!.address, 1_000n) });
  await signer.add("transfer", { to: token, data: tokenCall(TRANSFER, RECIPIENT, 10n) });
  await other.add("transfer of too much", {
    to: token,
    data: tokenCall(TRANSFER, RECIPIENT, 1n),
  });
  const childCode = initCode(RUNTIME.reverter);
  const create: Hex = `0x${SALT}${childCode.slice(2)}`;
  await signer.add("create2", { to: factory, data: create, value: 3n });
  await signer.add("create2 again", { to: factory, data: create });
  await signer.add("create2 that reverts", {
    to: factory,
    data: `0x${word(8n)}${RUNTIME.reverter}`,
  });
  await signer.add("custom error", { to: reverter, data: CUSTOM_ERROR });
  await signer.add("error without data", { to: reverter, data: "0x" });
  await signer.add("logs", { to: logger, data: `0x${word(0xabcdefn)}` });
  for (const [address, input] of PRECOMPILE_INPUTS) {
    const data: Hex = `0x${word(address)}${input}`;
    await signer.add(`precompile ${address}`, { to: precompileCaller, data });
  }
  await signer.add("direct precompile", { to: "0x0000000000000000000000000000000000000002" });
  await other.add("out of gas", { to: burner, data: "0x", gas: 50_000n });
  await other.add("invalid opcode", { data: "0xfe", gas: 100_000n });
  await other.add("code that begins with ef", { data: "0x60ef5f5360015ff3", gas: 100_000n });
  await other.add("plain transfer", { to: RECIPIENT, value: 5n, gas: 21_000n });
  await other.add("legacy", { to: RECIPIENT, value: 1n, type: "legacy" });
  await other.add("access list", { to: logger, data: `0x${word(1n)}`, type: "eip2930" });
  await other.add("delegation", { to: RECIPIENT, type: "eip7702", delegate: logger });
  await signer.add("call to the delegated account", { to: second!.address, data: `0x${word(2n)}` });
  const child = getCreate2Address({
    from: factory,
    salt: `0x${SALT}`,
    bytecodeHash: keccak256(childCode),
  });
  return {
    transactions: [...signer.transactions, ...other.transactions].sort((a, b) => a.order - b.order),
    addresses: { token, factory, reverter, logger, precompileCaller, child },
  };
}

type Wanted = {
  readonly to?: Hex;
  readonly data?: Hex;
  readonly value?: bigint;
  readonly gas?: bigint;
  readonly type?: "legacy" | "eip1559" | "eip2930" | "eip7702";
  /** Whose code the sender takes over. */
  readonly delegate?: Hex;
};

let order = 0;

class Signer {
  readonly transactions: (ScenarioTransaction & { readonly order: number })[] = [];
  readonly #account: PrivateKeyAccount;
  readonly #chainId: number;
  #nonce = 0;

  constructor(account: PrivateKeyAccount, chainId: number) {
    this.#account = account;
    this.#chainId = chainId;
  }

  /** The address of the contract that it makes, if it makes one. */
  async add(name: string, wanted: Wanted): Promise<Hex> {
    const { to, data = "0x", value = 0n, gas = 1_000_000n, type = "eip1559", delegate } = wanted;
    const nonce = this.#nonce++;
    const from = this.#account.address;
    const basic = { chainId: this.#chainId, nonce, gas, data, value, ...(to && { to }) };
    const raw = await this.#sign(basic, type, delegate);
    if (delegate !== undefined) this.#nonce++;
    const call = { from, data, value: `0x${value.toString(16)}`, ...(to && { to }) } as const;
    this.transactions.push({ name, raw, hash: keccak256(raw), call, order: order++ });
    return getContractAddress({ from, nonce: BigInt(nonce) });
  }

  async #sign(
    basic: { chainId: number; nonce: number; gas: bigint; data: Hex; value: bigint; to?: Hex },
    type: NonNullable<Wanted["type"]>,
    delegate: Hex | undefined,
  ): Promise<Hex> {
    const account = this.#account;
    switch (type) {
      case "legacy":
        return account.signTransaction({ ...basic, type, gasPrice: 0n });
      case "eip2930": {
        const storageKeys: Hex[] = [`0x${word(0n)}`, `0x${word(1n)}`];
        const accessList = [{ address: basic.to!, storageKeys }];
        return account.signTransaction({ ...basic, type, gasPrice: 0n, accessList });
      }
      case "eip7702": {
        // The sender delegates its own account: its nonce counts twice.
        const authorization = await account.signAuthorization({
          chainId: this.#chainId,
          contractAddress: delegate!,
          nonce: basic.nonce + 1,
        });
        const fees = { maxFeePerGas: 0n, maxPriorityFeePerGas: 0n };
        return account.signTransaction({
          ...basic,
          ...fees,
          type,
          authorizationList: [authorization],
        });
      }
      case "eip1559":
        return account.signTransaction({
          ...basic,
          type,
          maxFeePerGas: 0n,
          maxPriorityFeePerGas: 0n,
        });
    }
  }
}

function word(value: bigint): string {
  return value.toString(16).padStart(2 * WORD, "0");
}

/** Copies the runtime code that follows it and returns it. */
function initCode(runtime: string): Hex {
  const length = (runtime.length / 2).toString(16).padStart(2, "0");
  return `0x60${length}8060095f395ff3${runtime}`;
}
