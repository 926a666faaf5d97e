/** Where the values of the chart differ from the network that exists. */
import { bytesToHex } from "../../base/hex.ts";
import { addressToChecksumHex } from "../../chain/address.ts";
import { genesisAdmins, type GenesisAccount } from "../../chain/genesis.ts";
import { genesisAccountToJson } from "../../config/genesis-account.ts";
import type { NetworkEndpoint } from "../../config/network-fields.ts";
import type { NetworkFile } from "../../config/network-file.ts";
import { timestampToText } from "../../config/timestamp-text.ts";
import { keccak256 } from "../../crypto/keccak256.ts";
import type { WantedNetwork } from "./wanted-network.ts";

const HASH_SHOWN = 10;
const ACCOUNTS_SHOWN = 3;

/** One line each, by the chart's names of the parameters. */
export function differencesOf(wanted: WantedNetwork, stored: NetworkFile): readonly string[] {
  const asked = wanted.genesis;
  const kept = stored.genesis;
  const pairs: readonly (readonly [string, string, string])[] = [
    ["global.blockchainId", stored.blockchainId, wanted.blockchainId],
    ["genesisBlock.config.chainId", String(kept.chainId), String(asked.chainId)],
    ["genesisBlock.timestamp", timestampToText(kept.timestamp), timestampToText(asked.timestamp)],
    ["genesisBlock.gasLimit", String(kept.gasLimit), String(asked.gasLimit)],
    [
      "global.ethPermissioningWriteEnabled",
      String(kept.isWritePermissioned),
      String(asked.isWritePermissioned),
    ],
    [
      "global.ethPermissioningReadEnabled",
      String(kept.isReadPermissioned),
      String(asked.isReadPermissioned),
    ],
    ["genesisBlock.alloc", ...allocTexts(kept.alloc, asked)],
    ["the names of the replicas", hostsText(stored.replicas), hostsText(wanted.replicas)],
  ];
  return pairs
    .filter(([, before, now]) => before !== now)
    .map(([name, before, now]) => `${name}: the network has ${before}, the values ask for ${now}`);
}

/** Without an admin among those asked for, the first account was made at the first install. */
function allocTexts(
  kept: readonly GenesisAccount[],
  asked: WantedNetwork["genesis"],
): readonly [string, string] {
  const isMade = genesisAdmins(asked).length === 0;
  const before = (isMade ? kept.slice(1) : kept).map(accountText);
  const now = asked.alloc.map(accountText);
  if (before.join() === now.join()) return ["", ""];
  const only = (some: readonly string[], others: readonly string[]): string =>
    listText(some.filter((account) => !others.includes(account)));
  const texts = [only(before, now), only(now, before)] as const;
  return texts[0] === texts[1] ? ["these accounts", "another order of them"] : texts;
}

/** There may be thousands. */
function listText(accounts: readonly string[]): string {
  const shown = accounts.slice(0, ACCOUNTS_SHOWN).join(",");
  const more = accounts.length - ACCOUNTS_SHOWN;
  return more > 0 ? `${shown} and ${more} more` : shown === "" ? "no other" : shown;
}

/** Code and storage by a hash: they may be long. */
function accountText(account: GenesisAccount): string {
  const { address, balance, carried } = account;
  const plain = `${addressToChecksumHex(address)}=${balance}`;
  if (carried === undefined) return plain;
  const whole = new TextEncoder().encode(JSON.stringify(genesisAccountToJson(account)));
  return `${plain} (${bytesToHex(keccak256(whole)).slice(0, HASH_SHOWN)})`;
}

function hostsText(replicas: readonly NetworkEndpoint[]): string {
  return replicas.map(({ host, port }) => `${host}:${port}`).join(",");
}
