/** The libraries that users have, unchanged, on the default URL. */
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { ContractFactory, JsonRpcProvider, NonceManager, Wallet } from "ethers";
import {
  createPublicClient,
  createWalletClient,
  defineChain,
  http,
  parseAbi,
  type PublicClient,
} from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { bytesToHex, type Hex } from "../../src/base/hex.ts";
import { creationCode } from "../../bench/support/contract-bytecode.ts";
import { startNetwork, type RunningNetwork } from "../support/processes/network-process.ts";

const ABI = [
  "function mint(address to, uint256 value)",
  "function transfer(address to, uint256 value) returns (bool)",
  "function balanceOf(address owner) view returns (uint256)",
  "event Transfer(address indexed from, address indexed to, uint256 value)",
  "error InsufficientBalance(address owner, uint256 balance, uint256 needed)",
] as const;
const RECIPIENT = "0x00000000000000000000000000000000000a11ce";

describe("libraries on the running network", () => {
  let network: RunningNetwork;

  before(async () => {
    network = await startNetwork({});
  });

  after(async () => {
    await network.stop();
  });

  it("viem deploys an ERC-20, transfers, reads logs and receipts", async () => {
    const abi = parseAbi(ABI);
    const chain = defineChain({
      id: Number(network.chainId),
      name: "Quorate",
      nativeCurrency: { name: "Coin", symbol: "COIN", decimals: 18 },
      rpcUrls: { default: { http: [network.url] } },
    });
    const account = privateKeyToAccount(network.accounts[0]!.privateKey);
    const wallet = createWalletClient({ account, chain, transport: http() });
    const reader: PublicClient = createPublicClient({
      chain,
      transport: http(),
      pollingInterval: 20,
    });
    const deployed = await wallet.deployContract({ abi, bytecode: tokenCode() });
    const { contractAddress } = await reader.waitForTransactionReceipt({ hash: deployed });
    assert.ok(contractAddress);
    const token = { address: contractAddress, abi } as const;
    const minted = await wallet.writeContract({
      ...token,
      functionName: "mint",
      args: [account.address, 1000n],
    });
    await reader.waitForTransactionReceipt({ hash: minted });
    const hash = await wallet.writeContract({
      ...token,
      functionName: "transfer",
      args: [RECIPIENT, 10n],
    });
    const receipt = await reader.waitForTransactionReceipt({ hash });
    assert.equal(receipt.status, "success");
    const balance = await reader.readContract({
      ...token,
      functionName: "balanceOf",
      args: [RECIPIENT],
    });
    assert.equal(balance, 10n);
    const logs = await reader.getContractEvents({ ...token, eventName: "Transfer", fromBlock: 0n });
    assert.deepEqual(
      logs.map(({ args }) => args.value),
      [1000n, 10n],
    );
    const transaction = await reader.getTransaction({ hash });
    assert.equal(transaction.from.toLowerCase(), account.address.toLowerCase());
    const block = await reader.getBlock({
      blockHash: receipt.blockHash,
      includeTransactions: true,
    });
    assert.equal(block.transactions[0]?.hash, hash);
    await assert.rejects(
      reader.simulateContract({
        ...token,
        account: RECIPIENT,
        functionName: "transfer",
        args: [account.address, 11n],
      }),
      /InsufficientBalance/,
    );
  });

  it("ethers deploys an ERC-20, transfers, reads logs and receipts", async () => {
    const provider = new JsonRpcProvider(network.url, undefined, { pollingInterval: 20 });
    try {
      const wallet = new NonceManager(new Wallet(network.accounts[1]!.privateKey, provider));
      const factory = new ContractFactory([...ABI], tokenCode(), wallet);
      const contract = await factory.deploy();
      await contract.waitForDeployment();
      const token = contract as unknown as {
        readonly mint: (to: string, value: bigint) => Promise<Sent>;
        readonly transfer: (to: string, value: bigint) => Promise<Sent>;
        readonly balanceOf: (owner: string) => Promise<bigint>;
      };
      await (await token.mint(await wallet.getAddress(), 1000n)).wait();
      const receipt = await (await token.transfer(RECIPIENT, 7n)).wait();
      assert.ok(receipt);
      assert.equal(receipt.status, 1);
      assert.equal(receipt.logs.length, 1);
      assert.equal(await token.balanceOf(RECIPIENT), 7n);
      const address = await contract.getAddress();
      const logs = await provider.getLogs({ address, fromBlock: 0, toBlock: "latest" });
      assert.equal(logs.length, 2);
      const block = await provider.getBlock(receipt.blockNumber, true);
      assert.equal(block?.prefetchedTransactions.length, 1);
      const { gasPrice } = await provider.getFeeData();
      assert.equal(gasPrice, 0n);
    } finally {
      provider.destroy();
    }
  });
});

type Sent = {
  readonly wait: () => Promise<
    | {
        readonly status: number | null;
        readonly blockNumber: number;
        readonly logs: readonly unknown[];
      }
    | undefined
  >;
};

function tokenCode(): Hex {
  return bytesToHex(creationCode("Token"));
}
