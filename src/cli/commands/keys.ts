/** `quorate keys`: public keys of a network's nodes; `quorate keys create` makes a new set. */
import { existsSync } from "node:fs";
import path from "node:path";
import { bytesToHex } from "../../base/hex.ts";
import { createSigner } from "../../crypto/ed25519.ts";
import { usageError, type Command } from "../command.ts";
import { loadNetwork } from "../../local-network/local-network.ts";
import { dataRoot, networkPaths } from "../../local-network/network-paths.ts";
import { NODE_NAMES } from "../../config/node-names.ts";
import { shownPath } from "../../node/shown-path.ts";
import { createKey, loadKey } from "../../node/node-key.ts";
import { textTable } from "../text-table.ts";

type ShownKey = { readonly node: string; readonly publicKey: string; readonly file: string };

export const keys: Command = {
  name: "keys",
  summary: "show the nodes' public keys, or make new keys",
  positionals: "[create]",
  options: [
    { name: "data", value: "DIR", summary: "where the network lives (./.quorate)" },
    { name: "out", value: "DIR", summary: "with create: where the key files go" },
    { name: "json", summary: "as JSON" },
  ],
  details: "Private keys stay in their files (mode 0600) and are never shown.",
  run({ texts, switches, positionals }, { terminal, environment }) {
    const [action, ...more] = positionals;
    if ((action !== undefined && action !== "create") || more.length > 0) {
      throw usageError(`there is no "keys ${positionals.join(" ")}"`, "keys");
    }
    const shown =
      action === "create" ? create(texts["out"]) : list(dataRoot(texts["data"], environment));
    if (switches.has("json")) {
      terminal.result(JSON.stringify(shown));
      return Promise.resolve(0);
    }
    const rows = shown.map(({ node, publicKey, file }) => [node, publicKey, shownPath(file)]);
    for (const line of textTable(["NODE", "PUBLIC KEY", "FILE"], rows)) terminal.result(line);
    return Promise.resolve(0);
  },
};

function list(root: string): readonly ShownKey[] {
  const paths = networkPaths(root);
  loadNetwork(paths);
  return NODE_NAMES.filter((node) => existsSync(paths.key(node))).map((node) => ({
    node,
    publicKey: bytesToHex(createSigner(loadKey(paths.key(node))).publicKey),
    file: paths.key(node),
  }));
}

function create(out: string | undefined): readonly ShownKey[] {
  if (out === undefined) throw usageError("keys create needs --out", "keys");
  return NODE_NAMES.map((node) => {
    const file = path.resolve(out, `${node}.key`);
    return { node, publicKey: bytesToHex(createKey(file)), file };
  });
}
