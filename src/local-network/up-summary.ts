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
  /** The key of the first admin, of a network with permissions. */
  readonly adminKeyFile?: string;
  /** The development accounts, whose keys are public; empty for a network with permissions. */
  readonly accounts: readonly { readonly address: string; readonly privateKey: string }[];
};

export function createSummary(
  { genesis, genesisBlockHash }: NetworkFile,
  more: Pick<UpSummary, "rpcUrl" | "data" | "readyMs" | "logsUrl" | "adminKeyFile">,
): UpSummary {
  const hasPermissions = genesis.isWritePermissioned || genesis.isReadPermissioned;
  const { adminKeyFile } = more;
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
    ...(hasPermissions && adminKeyFile !== undefined && { adminKeyFile }),
    accounts: accounts.map(({ address, privateKey }) => ({
      address: addressToChecksumHex(address),
      privateKey: bytesToHex(privateKey),
    })),
  };
}
