/** `quorate verify-block`: checks the certificates of a block without trusting any node. */
import { readFileSync } from "node:fs";
import { bytesToHex, parseHex } from "../../base/hex.ts";
import type { ProvedBlock } from "../../client/verify-certificate.ts";
import type { NetworkFile } from "../../config/network-file.ts";
import { type Arguments, type Command, type CommandContext, usageError } from "../command.ts";
import { loadNetworkFile, readText } from "../../node/load-config.ts";
import { dataRoot, networkPaths } from "../../local-network/network-paths.ts";
import { createJsonRpcCaller } from "../smoke-test/json-rpc-caller.ts";
import { loadSupervisorRecord } from "../../local-network/supervisor-record.ts";
import { verifyBlock, type WantedBlock } from "../verify-block/verify-block.ts";

const DEFAULT_URL = "http://127.0.0.1:8545";
const HASH_SIZE = 32;
const STDIN = "-";
const STDIN_DESCRIPTOR = 0;
const DECIMAL = /^(0|[1-9][0-9]{0,18})$/;
const HEX_NUMBER = /^0x[0-9a-fA-F]{1,16}$/;

export const verifyBlockCommand: Command = {
  name: "verify-block",
  summary: "check the certificates of a block against the genesis, without believing any node",
  positionals: "[BLOCK]",
  options: [
    {
      name: "certificate",
      value: "FILE",
      summary: `what quorate_getCertificate gave, as JSON; ${STDIN} is stdin`,
    },
    { name: "url", value: "URL", summary: "or where ethrpc is, to ask for it (the network here)" },
    { name: "network", value: "FILE", summary: "the network file (network.json of --data)" },
    { name: "data", value: "DIR", summary: "where the network lives (./.quorate)" },
    { name: "json", summary: "as JSON" },
  ],
  details:
    "BLOCK is a number, a hash or latest. With --certificate it may be left out; if it is given, " +
    "the certificate must be about that block. With --certificate nothing is sent to anyone.",
  async run(given, context) {
    const { texts, positionals, switches } = given;
    const [block, ...more] = positionals;
    if (more.length > 0) throw usageError("verify-block takes one block", "verify-block");
    const file = texts["certificate"];
    if (file !== undefined && texts["url"] !== undefined) {
      throw usageError("give --certificate or --url, not both", "verify-block");
    }
    const paths = networkPaths(dataRoot(texts["data"], context.environment));
    const network = loadNetworkFile(texts["network"] ?? paths.networkFile);
    const wanted = parseBlock(block);
    const text =
      file === undefined ? await fetchCertificate(given, context, block, wanted) : readFrom(file);
    const proved = verifyBlock(network, text, wanted);
    for (const line of switches.has("json") ? [jsonOf(proved)] : linesOf(proved, network)) {
      context.terminal.result(line);
    }
    return 0;
  },
};

function parseBlock(text: string | undefined): WantedBlock {
  if (text === undefined || text === "latest") return undefined;
  if (DECIMAL.test(text) || HEX_NUMBER.test(text)) return { number: BigInt(text) };
  const hash = parseHex(text);
  if (hash?.length !== HASH_SIZE) throw usageError(`"${text}" is no block`, "verify-block");
  return { hash };
}

async function fetchCertificate(
  { texts }: Arguments,
  { environment }: CommandContext,
  block: string | undefined,
  wanted: WantedBlock,
): Promise<string> {
  if (block === undefined) {
    throw usageError("say which block, or give --certificate", "verify-block");
  }
  const paths = networkPaths(dataRoot(texts["data"], environment));
  const url = texts["url"] ?? loadSupervisorRecord(paths.supervisorFile)?.rpcUrl ?? DEFAULT_URL;
  if (!URL.canParse(url)) throw usageError(`"${url}" is no URL`, "verify-block");
  const call = createJsonRpcCaller(url);
  return JSON.stringify(await call("quorate_getCertificate", [blockParameter(wanted)]));
}

function blockParameter(wanted: WantedBlock): unknown {
  if (wanted === undefined) return "latest";
  if ("number" in wanted) return `0x${wanted.number.toString(16)}`;
  return { blockHash: bytesToHex(wanted.hash) };
}

function readFrom(file: string): string {
  return file === STDIN ? readFileSync(STDIN_DESCRIPTOR, "utf8") : readText(file);
}

function linesOf(
  { header, hash, signers }: ProvedBlock,
  { blockchainId, genesis }: NetworkFile,
): readonly string[] {
  const count = `${signers.length} of ${genesis.replicaPublicKeys.length}`;
  return [
    `block ${header.number} of ${blockchainId} is final, and this is its result`,
    `  hash          ${bytesToHex(hash)}`,
    `  time          ${new Date(Number(header.timestamp) * 1_000).toISOString()}`,
    `  state root    ${bytesToHex(header.stateRoot)}`,
    `  transactions  ${bytesToHex(header.transactionsRoot)}`,
    `  receipts      ${bytesToHex(header.receiptsRoot)}`,
    `  signed by     ${count} replicas (${signers.map((index) => `replica-${index}`).join(", ")})`,
  ];
}

function jsonOf({ header, hash, signers }: ProvedBlock): string {
  return JSON.stringify({
    blockNumber: Number(header.number),
    blockHash: bytesToHex(hash),
    parentHash: bytesToHex(header.parentHash),
    timestamp: Number(header.timestamp),
    stateRoot: bytesToHex(header.stateRoot),
    transactionsRoot: bytesToHex(header.transactionsRoot),
    receiptsRoot: bytesToHex(header.receiptsRoot),
    signers,
  });
}
