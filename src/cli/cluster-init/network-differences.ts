/** Where the values of the chart and a network that exists say different things. */
import { addressToChecksumHex } from "../../chain/address.ts";
import type { GenesisAccount } from "../../chain/genesis.ts";
import type { NetworkEndpoint } from "../../config/network-fields.ts";
import type { NetworkFile } from "../../config/network-file.ts";
import { timestampToText } from "../../config/timestamp-text.ts";
import type { WantedNetwork } from "./wanted-network.ts";

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
    // None asked for: whatever account was made at the first install.
    ...(asked.alloc.length === 0
      ? []
      : [["genesisBlock.alloc", allocText(kept.alloc), allocText(asked.alloc)] as const]),
    ["the names of the replicas", hostsText(stored.replicas), hostsText(wanted.replicas)],
  ];
  return pairs
    .filter(([, before, now]) => before !== now)
    .map(([name, before, now]) => `${name}: the network has ${before}, the values ask for ${now}`);
}

function allocText(alloc: readonly GenesisAccount[]): string {
  return alloc
    .map(({ address, balance }) => `${addressToChecksumHex(address)}=${balance}`)
    .join(",");
}

function hostsText(replicas: readonly NetworkEndpoint[]): string {
  return replicas.map(({ host, port }) => `${host}:${port}`).join(",");
}
