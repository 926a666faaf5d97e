/** What a user needs to know of a network that is ready. */
import { bytesToHex } from "../base/hex.ts";
import { addressToChecksumHex } from "../chain/address.ts";
import type { NetworkFile } from "../config/network-file.ts";
import { createDevAccounts, DEV_MNEMONIC } from "../local-network/dev-accounts.ts";
import { shownPath } from "../local-network/network-directory.ts";
import { paint, type Terminal } from "./terminal.ts";

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

const WEI_PER_ETHER = 10n ** 18n;

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

export function summaryLines(
  summary: UpSummary,
  { genesis }: NetworkFile,
  terminal: Terminal,
): readonly string[] {
  const bold = (text: string): string => paint(terminal, "bold", text);
  const warning = (text: string): string => paint(terminal, "yellow", text);
  const balance = Number((genesis.alloc[0]?.balance ?? 0n) / (WEI_PER_ETHER / 100n)) / 100;
  return [
    "",
    `  ${bold("ethrpc")}     ${summary.rpcUrl}            (strict dialect: ${summary.standardUrl})`,
    `  ${bold("chain id")}   ${summary.chainId}`,
    `  ${bold("data")}       ${shownPath(summary.data)}`,
    ...(summary.logsUrl === undefined ? [] : [`  ${bold("logs")}       ${summary.logsUrl}`]),
    "",
    warning(
      "  DEVELOPMENT ACCOUNTS - INSECURE: everyone knows these keys. Never send them real money.",
    ),
    `  Ten accounts with ${balance} ether each, from the mnemonic`,
    `  "${DEV_MNEMONIC}"`,
    "",
    ...summary.accounts.map(
      ({ address, privateKey }, index) => `  (${index}) ${address}  ${privateKey}`,
    ),
    "",
  ];
}
