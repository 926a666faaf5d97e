/** The summary of a network that is ready, as text for a terminal. */
import type { NetworkFile } from "../config/network-file.ts";
import { DEV_MNEMONIC } from "../local-network/dev-accounts.ts";
import type { UpSummary } from "../local-network/up-summary.ts";
import { shownPath } from "../node/shown-path.ts";
import { paint, type Terminal } from "./terminal.ts";

const WEI_PER_ETHER = 10n ** 18n;

export function summaryLines(
  summary: UpSummary,
  { genesis }: NetworkFile,
  terminal: Terminal,
): readonly string[] {
  const bold = (text: string): string => paint(terminal, "bold", text);
  return [
    "",
    `  ${bold("ethrpc")}     ${summary.rpcUrl}            (strict dialect: ${summary.standardUrl})`,
    `  ${bold("chain id")}   ${summary.chainId}`,
    `  ${bold("data")}       ${shownPath(summary.data)}`,
    ...(summary.logsUrl === undefined ? [] : [`  ${bold("logs")}       ${summary.logsUrl}`]),
    "",
    ...(summary.accounts.length === 0 ? [] : accountLines(summary, genesis, terminal)),
    ...(summary.adminKeyFile === undefined ? [] : adminLines(summary.adminKeyFile, bold)),
  ];
}

function adminLines(file: string, bold: (text: string) => string): readonly string[] {
  const shown = shownPath(file);
  return [
    `  ${bold("admin key")}  ${shown}   (made for this network; keep it secret and safe)`,
    `  Give rights to others with: quorate permit grant ACCOUNT ACTIONS --key ${shown}`,
    "",
  ];
}

function accountLines(
  { accounts }: UpSummary,
  genesis: NetworkFile["genesis"],
  terminal: Terminal,
): readonly string[] {
  const warning = (text: string): string => paint(terminal, "yellow", text);
  const balance = Number((genesis.alloc[0]?.balance ?? 0n) / (WEI_PER_ETHER / 100n)) / 100;
  return [
    warning(
      "  DEVELOPMENT ACCOUNTS - INSECURE: everyone knows these keys. Never send them real money.",
    ),
    `  Ten accounts with ${balance} ether each, from the mnemonic`,
    `  "${DEV_MNEMONIC}"`,
    "",
    ...accounts.map(({ address, privateKey }, index) => `  (${index}) ${address}  ${privateKey}`),
    "",
  ];
}
