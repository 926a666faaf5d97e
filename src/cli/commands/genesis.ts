/**
 * `quorate genesis`: shows the genesis of a network; `quorate genesis create` makes a network file.
 */
import { existsSync } from "node:fs";
import path from "node:path";
import { CodedError } from "../../base/coded-error.ts";
import { bytesToHex } from "../../base/hex.ts";
import { parseAddress } from "../../chain/address.ts";
import {
  DEFAULT_CHAIN_ID,
  DEFAULT_GENESIS_BALANCE,
  DEFAULT_GENESIS_TIMESTAMP,
  genesisHash,
  type GenesisAccount,
} from "../../chain/genesis.ts";
import { encodeNetworkFile, genesisToJson, type NetworkFile } from "../../config/network-file.ts";
import { createSigner } from "../../crypto/ed25519.ts";
import { usageError, type Arguments, type Command } from "../command.ts";
import { createGenesis, genesisBlockHashOf } from "../../local-network/create-network.ts";
import { loadAllocFile, mergeAccounts } from "../../local-network/alloc-file.ts";
import { runGenesisAlloc } from "../genesis-alloc/run-genesis-alloc.ts";
import { loadNetwork } from "../../local-network/local-network.ts";
import { CLIENT_NAME, CLIENT_PRINCIPAL, REPLICA_NAMES } from "../../config/node-names.ts";
import { dataRoot, networkPaths } from "../../local-network/network-paths.ts";
import { writeFileAtomically } from "../../storage/atomic-file.ts";
import { loadKey } from "../../node/node-key.ts";
import { parseChainId, PERMISSION_OPTIONS, permissionSwitches } from "../up-arguments.ts";
import { timestampOf } from "../../local-network/timestamp-of.ts";

const ENDPOINT = /^(.+):([0-9]{1,5})$/;

export const genesis: Command = {
  name: "genesis",
  summary: "show the genesis of a network, make a network file, or take accounts along",
  positionals: "[create|alloc]",
  options: [
    { name: "data", value: "DIR", summary: "where the network lives (./.quorate)" },
    { name: "keys", value: "DIR", summary: "with create: the keys of `quorate keys create`" },
    { name: "out", value: "FILE", summary: "with create and alloc: the file to write" },
    { name: "replicas", value: "LIST", summary: "with create: host:port of the four replicas" },
    {
      name: "alloc",
      value: "LIST",
      summary: "with create: funded accounts, admins of permissions",
    },
    { name: "alloc-file", value: "FILE", summary: "with create: accounts of `genesis alloc`" },
    { name: "dump", value: "FILE", summary: "with alloc: a state dump of geth, Besu or Anvil" },
    { name: "chain-id", value: "N", summary: `with create (${DEFAULT_CHAIN_ID})` },
    {
      name: "genesis-timestamp",
      value: '"YYYY-MM-DD hh:mm:ss"',
      summary: `with create, in UTC (${DEFAULT_GENESIS_TIMESTAMP})`,
    },
    ...PERMISSION_OPTIONS,
    { name: "blockchain-id", value: "NAME", summary: "with create: its name in logs" },
  ],
  run(given, { terminal, environment }) {
    const { texts, positionals } = given;
    const [action, ...more] = positionals;
    if (action === "alloc" && more.length === 0) {
      return Promise.resolve(runGenesisAlloc(given, terminal));
    }
    if ((action !== undefined && action !== "create") || more.length > 0) {
      throw usageError(`there is no "genesis ${positionals.join(" ")}"`, "genesis");
    }
    const file =
      action === "create"
        ? create(given)
        : loadNetwork(networkPaths(dataRoot(texts["data"], environment))).file;
    const shown = {
      blockchainId: file.blockchainId,
      genesisHash: bytesToHex(genesisHash(file.genesis)),
      genesisBlockHash: bytesToHex(file.genesisBlockHash),
      genesis: genesisToJson(file.genesis),
    };
    terminal.result(JSON.stringify(shown, undefined, 2));
    return Promise.resolve(0);
  },
};

function create({ texts, switches }: Arguments): NetworkFile {
  const { keys, out, replicas, alloc, "alloc-file": allocFile } = texts;
  const hasAccounts = alloc !== undefined || allocFile !== undefined;
  if (keys === undefined || out === undefined || replicas === undefined || !hasAccounts) {
    const needed = "--keys, --out, --replicas and --alloc (or --alloc-file)";
    throw usageError(`genesis create needs ${needed}`, "genesis");
  }
  // A genesis is never replaced, because a network may already run on it.
  if (existsSync(out)) throw new CodedError("FILE_EXISTS", { path: out });
  const publicKey = (node: string): Uint8Array =>
    createSigner(loadKey(path.resolve(keys, `${node}.key`))).publicKey;
  const chainId = parseChainId(texts["chain-id"]) ?? DEFAULT_CHAIN_ID;
  const timestamp = timestampOf(texts["genesis-timestamp"] ?? DEFAULT_GENESIS_TIMESTAMP);
  const config = createGenesis(
    { chainId, timestamp, ...permissionSwitches(switches) },
    mergeAccounts(
      alloc?.split(",").map(parseAccount) ?? [],
      allocFile === undefined ? [] : loadAllocFile(allocFile),
    ),
    REPLICA_NAMES.map(publicKey),
  );
  const file: NetworkFile = {
    blockchainId: texts["blockchain-id"] ?? `quorate-${chainId}`,
    genesis: config,
    genesisBlockHash: genesisBlockHashOf(config),
    replicas: parseEndpoints(replicas),
    clients: new Map([[CLIENT_PRINCIPAL, publicKey(CLIENT_NAME)]]),
  };
  writeFileAtomically(path.resolve(out), encodeNetworkFile(file));
  return file;
}

/** `0xADDRESS` or `0xADDRESS=balance`. */
function parseAccount(text: string): GenesisAccount {
  const [addressText = "", balanceText] = text.split("=");
  const address = parseAddress(addressText);
  const isNumber = balanceText === undefined || /^[0-9]{1,77}$/.test(balanceText);
  if (address === undefined || !isNumber) {
    throw usageError(`--alloc: "${text}" is no address or address=balance`, "genesis");
  }
  const balance = balanceText === undefined ? DEFAULT_GENESIS_BALANCE : BigInt(balanceText);
  return { address, balance };
}

function parseEndpoints(text: string): readonly { host: string; port: number }[] {
  const endpoints = text.split(",").map((item) => {
    const [, host = "", port = "0"] = ENDPOINT.exec(item) ?? [];
    return { host, port: Number(port) };
  });
  const areGood = endpoints.every(({ host, port }) => host !== "" && port > 0 && port <= 65_535);
  if (!areGood || endpoints.length !== REPLICA_NAMES.length) {
    throw usageError(`--replicas must be ${REPLICA_NAMES.length} times host:port`, "genesis");
  }
  return endpoints;
}
