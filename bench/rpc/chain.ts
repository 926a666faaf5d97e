/** The same chain on both servers: a token, a full block, blocks with logs and with transfers. */
import { privateKeyToAccount } from "viem/accounts";
import { bytesToHex, type Hex } from "../../src/base/hex.ts";
import { rpc } from "../../test/support/processes/network-process.ts";
import { callData, creationCode } from "../support/contract-bytecode.ts";

export const LOG_BLOCKS = 1_000;
export const FULL_BLOCK_TRANSACTIONS = 100;
export const OWNER = "0x00000000000000000000000000000000000a11ce";
/** Blocks with a log each, at the start of the range; the others have a plain transfer each. */
const MINTS = 100;
const FULL_BLOCK_TRIES_MAX = 20;

export type PreparedChain = {
  readonly token: Hex;
  readonly fullBlock: Hex;
  readonly lastBlock: number;
};

type Receipt = { readonly contractAddress: Hex; readonly blockNumber: Hex };
type Sign = (to: Hex | undefined, data: Hex) => Promise<Hex>;

export async function prepareChain(
  url: string,
  key: Hex,
  isAnvil: boolean,
): Promise<PreparedChain> {
  const account = privateKeyToAccount(key);
  const chainId = Number(await rpc(url, "eth_chainId"));
  let nonce = 0;
  const sign: Sign = (to, data) =>
    account.signTransaction({
      ...{ chainId, nonce: nonce++, data, ...(to && { to }) },
      // A full block of transfers must fit under the block's gas.
      gas: data === "0x" ? 21_000n : 1_000_000n,
      ...{ maxFeePerGas: 0n, maxPriorityFeePerGas: 0n },
    });
  const send = async (to: Hex | undefined, data: Hex): Promise<Receipt> =>
    (await rpc(url, "eth_sendRawTransactionSync", [await sign(to, data)])) as Receipt;
  const { contractAddress: token } = await send(undefined, bytesToHex(creationCode("Token")));
  const fullBlock = await makeFullBlock(url, sign, isAnvil);
  const mint = bytesToHex(callData("Token", "mint(address,uint256)", BigInt(OWNER), 1n));
  for (let index = 0; index < MINTS; index++) await send(token, mint);
  const firstBlock = Number(fullBlock);
  for (;;) {
    const { blockNumber } = await send(OWNER, "0x");
    const lastBlock = Number(blockNumber);
    if (lastBlock >= firstBlock + LOG_BLOCKS) return { token, fullBlock, lastBlock };
  }
}

/**
 * Ours cannot be told what to put into a block: the first transaction goes last, and all that
 * waited for it become ready at once. It may go alone, and the one that follows may join them.
 */
async function makeFullBlock(url: string, sign: Sign, isAnvil: boolean): Promise<Hex> {
  for (let tries = 0; tries < FULL_BLOCK_TRIES_MAX; tries++) {
    const raws: Hex[] = [];
    const count = FULL_BLOCK_TRANSACTIONS + (isAnvil ? 0 : (tries % 3) - 1);
    for (let index = 0; index < count; index++) raws.push(await sign(OWNER, "0x"));
    if (isAnvil) await rpc(url, "evm_setAutomine", [false]);
    const [first, ...others] = raws;
    await submitBatch(url, others);
    const hash = (await rpc(url, "eth_sendRawTransaction", [first])) as Hex;
    if (isAnvil) {
      await rpc(url, "evm_mine");
      await rpc(url, "evm_setAutomine", [true]);
    }
    const last = (await rpc(url, "eth_sendRawTransactionSync", [
      await sign(OWNER, "0x"),
    ])) as Receipt;
    for (let number = Number(last.blockNumber); number > 0; number--) {
      const block: Hex = `0x${number.toString(16)}`;
      const found = (await rpc(url, "eth_getBlockByNumber", [block, false])) as {
        readonly transactions: readonly Hex[];
      };
      if (found.transactions.length === FULL_BLOCK_TRANSACTIONS) return block;
      if (found.transactions.includes(hash)) break;
    }
  }
  throw new Error("no block of the wanted size came about");
}

async function submitBatch(url: string, raws: readonly Hex[]): Promise<void> {
  const method = "eth_sendRawTransaction";
  const requests = raws.map((raw, id) => ({ jsonrpc: "2.0", id, method, params: [raw] }));
  await fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(requests),
  });
}
