/** What a user needs to know of a network that is ready. */
import { bytesToHex } from "../base/hex.ts";
import { addressToChecksumHex } from "../chain/address.ts";
import type { NetworkFile } from "../config/network-file.ts";
import { createDevAccounts } from "./dev-accounts.ts";

export type UpSummary = {
  readonly rpcUrl: string;
  readonly standardUrl: string;
  readonly chainId: string;
  readonly genesisBlockHash: string;
  readonly data: string;
  readonly pid: number;
  readonly readyMs: number;
  /** Of the viewer, where there is a log stack. */
  readonly logsUrl?: string;
  readonly accounts: readonly { readonly address: string; readonly privateKey: string }[];
};

export function createSummary(
  { genesis, genesisBlockHash }: NetworkFile,
  more: Pick<UpSummary, "rpcUrl" | "data" | "readyMs" | "logsUrl">,
): UpSummary {
  const funded = new Set(genesis.alloc.map(({ address }) => address));
  const accounts = createDevAccounts().filter(({ address }) => funded.has(address));
  return {
    rpcUrl: more.rpcUrl,
    standardUrl: `${more.rpcUrl}/standard`,
    chainId: String(genesis.chainId),
    genesisBlockHash: bytesToHex(genesisBlockHash),
    data: more.data,
    pid: process.pid,
    readyMs: more.readyMs,
    ...(more.logsUrl === undefined ? {} : { logsUrl: more.logsUrl }),
    accounts: accounts.map(({ address, privateKey }) => ({
      address: addressToChecksumHex(address),
      privateKey: bytesToHex(privateKey),
    })),
  };
}
