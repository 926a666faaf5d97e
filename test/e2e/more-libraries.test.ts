/** Tools of users besides viem and ethers, unchanged: web3.js and Hardhat on `/`, others strict. */
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, describe, it, type TestContext } from "node:test";
import { Web3, type ContractAbi } from "web3";
import { creationCode } from "../../bench/support/contract-bytecode.ts";
import { bytesToHex } from "../../src/base/hex.ts";
import { findNativeHardhat } from "../support/processes/hardhat-native.ts";
import { startNetwork, type RunningNetwork } from "../support/processes/network-process.ts";

const ROOT = path.join(import.meta.dirname, "../..");
const MODULES = path.join(ROOT, "node_modules");
const RECIPIENT = "0x00000000000000000000000000000000000a11ce";
/** The first build of go-ethereum on a busy machine takes minutes. */
const PROGRAM_TIMEOUT_MS = 900_000;
const TOKEN_CODE = bytesToHex(creationCode("Token"));
const TOKEN_ABI: ContractAbi = [
  functionOf("mint", ["to:address", "value:uint256"]),
  functionOf("transfer", ["to:address", "value:uint256"]),
  {
    ...functionOf("balanceOf", ["owner:address"]),
    stateMutability: "view",
    outputs: [{ name: "", type: "uint256" }],
  },
  {
    type: "event",
    name: "Transfer",
    inputs: ["from:address", "to:address", "value:uint256"].map((field, index) => ({
      ...parameter(field),
      indexed: index < 2,
    })),
  },
  {
    type: "error",
    name: "InsufficientBalance",
    inputs: ["owner:address", "balance:uint256", "needed:uint256"].map(parameter),
  },
];

describe("more tools on the running network", () => {
  let network: RunningNetwork;
  let directory: string;

  before(async () => {
    network = await startNetwork({});
    directory = mkdtempSync(path.join(tmpdir(), "quorate-tools-"));
  });

  after(async () => {
    await network.stop();
    rmSync(directory, { recursive: true, force: true });
  });

  it("web3.js deploys an ERC-20, transfers, reads logs and receipts", async () => {
    const web3 = new Web3(network.url);
    web3.eth.transactionPollingInterval = 20;
    const account = web3.eth.accounts.privateKeyToAccount(network.accounts[2]!.privateKey);
    web3.eth.accounts.wallet.add(account);
    const from = account.address;
    const factory = new web3.eth.Contract(TOKEN_ABI);
    const token = await factory.deploy({ data: TOKEN_CODE }).send({ from });
    await token.methods["mint"]!(from, 1000n).send({ from });
    const receipt = await token.methods["transfer"]!(RECIPIENT, 10n).send({ from });
    assert.equal(receipt.status, 1n);
    assert.equal(receipt.events?.["Transfer"]?.returnValues["value"], 10n);
    assert.equal(await token.methods["balanceOf"]!(RECIPIENT).call(), 10n);
    const logs = await web3.eth.getPastLogs({ address: token.options.address!, fromBlock: 0 });
    assert.equal(logs.length, 2);
    const read = await web3.eth.getTransactionReceipt(receipt.transactionHash);
    assert.equal(read.blockHash, receipt.blockHash);
    const block = await web3.eth.getBlock(receipt.blockHash, true);
    assert.deepEqual(
      block.transactions.map((transaction) =>
        typeof transaction === "string" ? transaction : transaction.hash,
      ),
      [receipt.transactionHash],
    );
    await assert.rejects(
      token.methods["transfer"]!(RECIPIENT, 1001n).call({ from }),
      (error: { cause?: { errorName?: string } }) =>
        error.cause?.errorName === "InsufficientBalance",
    );
  });

  it("Hardhat builds, deploys and tests a project with OpenZeppelin contracts", async (t) => {
    const native = findNativeHardhat(directory);
    if ("missing" in native) {
      t.skip(native.missing);
      return;
    }
    const hardhat = path.join(MODULES, "hardhat/dist/src/cli.js");
    const { code, stdout, stderr } = await run(
      process.execPath,
      [hardhat, "--network", "quorate", "run", "scripts/check-shares.js"],
      {
        cwd: path.join(import.meta.dirname, "hardhat-project"),
        environment: {
          PROJECT_OUTPUT: directory,
          PROJECT_RPC_URL: network.url,
          PROJECT_KEYS: network.accounts
            .slice(3, 6)
            .map(({ privateKey }) => privateKey)
            .join(","),
          ...native.environment,
          // It must not look for a server to report to.
          CI: "true",
        },
      },
    );
    assert.equal(code, 0, stdout + stderr);
    assert.match(stdout, /pass 3\b/);
  });

  it("cast reads and writes on /standard", async (t) => {
    const program = path.join(MODULES, ".bin/cast");
    if (!existsSync(program)) {
      t.skip("cast is not installed for this system");
      return;
    }
    await driveCast(network, program);
  });

  it("go-ethereum's ethclient decodes all it asks for on /standard", async (t) => {
    const program = await buildEthclient(directory, t);
    if (program === undefined) return;
    const { port } = new URL(network.url);
    const url = `ws://127.0.0.1:${port}/standard`;
    const key = network.accounts[7]!.privateKey;
    const { code, stdout, stderr } = await run(program, [url, key, TOKEN_CODE]);
    assert.equal(code, 0, stderr);
    const { contract, ...found } = JSON.parse(stdout) as Record<string, unknown>;
    assert.match(String(contract), /^0x[0-9a-fA-F]{40}$/);
    assert.deepEqual(found, {
      chainId: network.chainId.toString(),
      balance: "1000",
      logs: 1,
      ...{ blocksAgree: true, receiptsAgree: true, storageProof: true, accessList: true },
      ...{ estimateEnough: true, heads: true },
    });
  });
});

async function driveCast(network: RunningNetwork, program: string): Promise<void> {
  const url = `${network.url}/standard`;
  const { address: sender, privateKey } = network.accounts[6]!;
  const cast = async (...args: readonly string[]): Promise<string> => {
    const { code, stdout, stderr } = await run(program, args, {
      environment: { ETH_RPC_URL: url },
    });
    assert.equal(code, 0, `cast ${args.join(" ")}: ${stderr}`);
    return stdout.trim();
  };
  type Receipt = Record<"contractAddress" | "transactionHash" | "status" | "blockNumber", string>;
  const send = async (...args: readonly string[]): Promise<Receipt> =>
    JSON.parse(await cast("send", "--json", "--private-key", privateKey, ...args)) as Receipt;
  assert.equal(await cast("chain-id"), network.chainId.toString());
  const { contractAddress: token } = await send("--create", TOKEN_CODE);
  const mint = ["mint(address,uint256)", sender, "77"];
  const estimate = BigInt(await cast("estimate", "--from", sender, token, ...mint));
  assert.ok(estimate > 21_000n);
  const receipt = await send(token, ...mint);
  assert.equal(receipt.status, "0x1");
  assert.equal(await cast("call", token, "balanceOf(address)(uint256)", sender), "77");
  // What it paid: cast tips a wei per gas where nothing is asked for.
  const balance = (await network.rpc("eth_getBalance", [sender, "latest"])) as string;
  assert.equal(await cast("balance", sender), BigInt(balance).toString());
  assert.equal(await cast("nonce", sender), "2");
  const read = JSON.parse(await cast("receipt", "--json", receipt.transactionHash)) as Receipt;
  assert.equal(read.blockNumber, receipt.blockNumber);
  const logs = JSON.parse(
    await cast("logs", "--json", "--from-block", "0", "--address", token),
  ) as { readonly data: string }[];
  assert.deepEqual(
    logs.map(({ data }) => BigInt(data)),
    [77n],
  );
  const block = JSON.parse(await cast("block", "--json", receipt.blockNumber)) as {
    readonly transactions: readonly string[];
  };
  assert.deepEqual(block.transactions, [receipt.transactionHash]);
  const transaction = JSON.parse(await cast("tx", "--json", receipt.transactionHash)) as {
    readonly from: string;
  };
  assert.equal(transaction.from.toLowerCase(), sender.toLowerCase());
  const trace = await cast("rpc", "debug_traceTransaction", receipt.transactionHash);
  assert.match(trace, /"structLogs"/);
}

/** Undefined, with the reason told, where Go or its modules are not to be had. */
async function buildEthclient(directory: string, t: TestContext): Promise<string | undefined> {
  if (spawnSync("go", ["version"]).status !== 0) {
    t.skip("Go is not installed");
    return undefined;
  }
  const program = path.join(directory, "ethclient");
  const cwd = path.join(import.meta.dirname, "ethclient");
  const modules = await run("go", ["mod", "download"], { cwd });
  if (modules.code !== 0) {
    t.skip(`the modules of go-ethereum cannot be had: ${modules.stderr.slice(0, 200)}`);
    return undefined;
  }
  const built = await run("go", ["build", "-o", program, "."], { cwd });
  assert.equal(built.code, 0, built.stderr);
  return program;
}

type RunOptions = {
  readonly cwd?: string;
  readonly environment?: Readonly<Record<string, string>>;
};
type Outcome = { readonly code: number | null; readonly stdout: string; readonly stderr: string };

async function run(
  program: string,
  args: readonly string[],
  { cwd = ROOT, environment = {} }: RunOptions = {},
): Promise<Outcome> {
  const child = spawn(program, [...args], {
    cwd,
    stdio: ["ignore", "pipe", "pipe"],
    timeout: PROGRAM_TIMEOUT_MS,
    // With the context, a program that itself runs tests would speak to our runner.
    env: { ...process.env, NODE_TEST_CONTEXT: undefined, ...environment },
  });
  const output = { stdout: "", stderr: "" };
  child.stdout.on("data", (text: Buffer) => (output.stdout += text.toString()));
  child.stderr.on("data", (text: Buffer) => (output.stderr += text.toString()));
  await once(child, "close");
  return { code: child.exitCode, ...output };
}

function functionOf(name: string, fields: readonly string[]): ContractAbi[number] {
  return {
    type: "function",
    name,
    stateMutability: "nonpayable",
    inputs: fields.map(parameter),
    outputs: [],
  };
}

function parameter(field: string): { readonly name: string; readonly type: string } {
  const [name = "", type = ""] = field.split(":");
  return { name, type };
}
