/**
 * Contracts and accounts of another chain, taken along: deployed and used on Anvil, dumped by RPC,
 * turned into a genesis, and used on a network of ours as if nothing had happened.
 */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { describe, it } from "node:test";
import { createWalletClient, http, publicActions, type Hex } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { foundry } from "viem/chains";
import { TOKEN_CREATION_CODE, TOKEN_SELECTORS } from "../../src/cli/smoke-test/token-bytecode.ts";
import { anvilProgram, startAnvil } from "../support/processes/anvil-process.ts";
import { rpc, runCommand, startNetwork, waitFor } from "../support/processes/network-process.ts";

const program = anvilProgram();
/** The first account of Anvil's mnemonic, which Anvil signs for. */
const SENDER = "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266";
const HOLDER = `0x${"42".repeat(20)}`;
const MINTED = 1000n;
const MOVED = 400n;

describe("accounts of another chain", { skip: program === undefined && "no Anvil here" }, () => {
  it("a token keeps its address, code and balances, and is used on", async () => {
    const folder = mkdtempSync(path.join(tmpdir(), "quorate-carry-"));
    const allocFile = path.join(folder, "alloc.json");
    try {
      const token = await dumpAnvil(program ?? "", path.join(folder, "dump.json"));
      const dump = path.join(folder, "dump.json");
      const made = await runCommand(["genesis", "alloc", "--dump", dump, "--out", allocFile]);
      assert.equal(made.code, 0, made.stderr);
      assert.match(made.stdout, /accounts, of which 1 contracts with 3 storage slots/);
      const network = await startNetwork({ args: ["--alloc-file", allocFile] });
      try {
        const call = (method: string, params: unknown[]): Promise<unknown> =>
          rpc(network.url, method, params);
        assert.equal(await balanceOf(call, token, HOLDER), MOVED);
        assert.equal(await balanceOf(call, token, SENDER), MINTED - MOVED);
        assert.equal(await call("eth_getTransactionCount", [SENDER, "latest"]), "0x3");
        // Its owner signs on with the nonce that it had.
        const [owner] = network.accounts;
        assert.equal(owner?.address, SENDER);
        const wallet = createWalletClient({
          account: privateKeyToAccount(owner.privateKey),
          chain: { ...foundry, id: Number(network.chainId) },
          transport: http(network.url),
        }).extend(publicActions);
        const data = callData(TOKEN_SELECTORS.transfer, HOLDER, 1n);
        const hash = await wallet.sendTransaction({ to: token, data, gasPrice: 0n });
        const receipt = await wallet.waitForTransactionReceipt({ hash, pollingInterval: 50 });
        assert.equal(receipt.status, "success");
        assert.equal(await balanceOf(call, token, HOLDER), MOVED + 1n);
      } finally {
        await network.stop();
      }
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});

type Call = (method: string, params: unknown[]) => Promise<unknown>;

/** Deploys the token, mints, transfers, and writes the answer of anvil_dumpState as it came. */
async function dumpAnvil(anvilPath: string, file: string): Promise<Hex> {
  const anvil = await startAnvil(anvilPath, { chainId: 31_337n, gasLimit: 30_000_000n });
  try {
    const call: Call = (method, params) => rpc(anvil.url, method, params);
    const transact = async (to: string | undefined, data: string): Promise<Hex> => {
      const transaction = { from: SENDER, data, gasPrice: "0x0", ...(to !== undefined && { to }) };
      const hash = await call("eth_sendTransaction", [transaction]);
      let receipt: { readonly contractAddress: Hex } | null = null;
      await waitFor(async () => {
        receipt = (await call("eth_getTransactionReceipt", [hash])) as typeof receipt;
        return receipt !== null;
      }, "the receipt");
      return (receipt as unknown as { readonly contractAddress: Hex }).contractAddress;
    };
    const token = await transact(undefined, TOKEN_CREATION_CODE);
    await transact(token, callData(TOKEN_SELECTORS.mint, SENDER, MINTED));
    await transact(token, callData(TOKEN_SELECTORS.transfer, HOLDER, MOVED));
    const result = await call("anvil_dumpState", []);
    writeFileSync(file, JSON.stringify({ jsonrpc: "2.0", id: 1, result }));
    return token;
  } finally {
    await anvil.stop();
  }
}

async function balanceOf(call: Call, token: string, account: string): Promise<bigint> {
  const data = TOKEN_SELECTORS.balanceOf + word(account);
  return BigInt(String(await call("eth_call", [{ to: token, data }, "latest"])));
}

function callData(selector: Hex, account: string, amount: bigint): Hex {
  return `${selector}${word(account)}${word(amount.toString(16))}`;
}

function word(hex: string): string {
  return hex.replace("0x", "").toLowerCase().padStart(64, "0");
}
