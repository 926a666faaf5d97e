/** `quorate permit`: who may read, write, deploy and change these rights. */
import { CodedError } from "../../base/coded-error.ts";
import { parseHex } from "../../base/hex.ts";
import { ANYONE } from "../../chain/permissions.ts";
import { type Arguments, type Command, type CommandContext, usageError } from "../command.ts";
import { readText } from "../../node/load-config.ts";
import { dataRoot, networkPaths } from "../../local-network/network-paths.ts";
import { shownPath } from "../../node/shown-path.ts";
import type { Permission } from "../permit/permission-abi.ts";
import { changePermissions, listPermissions } from "../permit/permission-client.ts";
import { formatActions, formatParty, parseActions, parseParty } from "../permit/permission-text.ts";
import { createSignedInCaller } from "../permit/signed-in-caller.ts";
import type { JsonRpcCaller } from "../smoke-test/json-rpc-caller.ts";
import { loadSupervisorRecord } from "../../local-network/supervisor-record.ts";
import { textTable } from "../text-table.ts";

const DEFAULT_URL = "http://127.0.0.1:8545";
const KEY_VARIABLE = "QUORATE_ADMIN_KEY";
const PRIVATE_KEY_SIZE = 32;

export const permit: Command = {
  name: "permit",
  summary: "list, grant and revoke permissions",
  positionals: "list | grant ACCOUNT ACTIONS | revoke ACCOUNT ACTIONS",
  options: [
    { name: "at", value: "ADDRESS", summary: "at this target only (any)" },
    { name: "key", value: "FILE", summary: `the key of an admin, as 0x-hex (or ${KEY_VARIABLE})` },
    { name: "url", value: "URL", summary: "where ethrpc is (of the network that runs here)" },
    { name: "data", value: "DIR", summary: "where the network lives (./.quorate)" },
    { name: "json", summary: "as JSON" },
  ],
  details:
    'ACCOUNT is an address or "any". ACTIONS are read, write, deploy and admin, with commas ' +
    'between them, or "all". Rights add up: what one entry gives, no other takes away.',
  async run(given, context) {
    const [action, ...rest] = given.positionals;
    const privateKey = loadAdminKey(given.texts["key"], context.environment);
    const call = createSignedInCaller(urlOf(given, context), privateKey);
    if (action === "list" && rest.length === 0) await list(call, given, context);
    else if (action === "grant" || action === "revoke") {
      const permission = parsePermission(action, rest, given.texts["at"]);
      if (privateKey === undefined) throw new CodedError("PERMIT_KEY_MISSING", {});
      await change(call, privateKey, { action, permission }, given, context);
    } else {
      throw usageError(`there is no "permit ${given.positionals.join(" ")}"`, "permit");
    }
    return 0;
  },
};

async function list(
  call: JsonRpcCaller,
  { switches }: Arguments,
  { terminal }: CommandContext,
): Promise<void> {
  const permissions = await listPermissions(call);
  const shown = permissions.map(({ from, to, rights }) => ({
    account: formatParty(from),
    at: formatParty(to),
    actions: formatActions(rights),
  }));
  if (switches.has("json")) {
    terminal.result(JSON.stringify(shown));
    return;
  }
  const rows = shown.map(({ account, at, actions }) => [account, at, actions]);
  for (const line of textTable(["ACCOUNT", "AT", "MAY"], rows)) terminal.result(line);
}

async function change(
  call: JsonRpcCaller,
  privateKey: Uint8Array,
  { action, permission }: { readonly action: "grant" | "revoke"; readonly permission: Permission },
  { switches }: Arguments,
  { terminal }: CommandContext,
): Promise<void> {
  const method = action === "grant" ? "grantPermissions" : "revokePermissions";
  const made = await changePermissions(call, privateKey, method, permission);
  const [account, at] = [formatParty(permission.from), formatParty(permission.to)];
  if (switches.has("json")) {
    const before = made === undefined ? undefined : formatActions(made.previous);
    const after = made === undefined ? undefined : formatActions(made.current);
    terminal.result(JSON.stringify({ account, at, isChanged: made !== undefined, before, after }));
    return;
  }
  terminal.result(
    made === undefined
      ? `nothing changed for ${account} at ${at}`
      : `${account} at ${at}: ${formatActions(made.previous)} -> ${formatActions(made.current)}`,
  );
}

function parsePermission(
  action: string,
  rest: readonly string[],
  at: string | undefined,
): Permission {
  const [account = "", names = "", ...more] = rest;
  if (more.length > 0) throw usageError(`permit ${action} takes an account and actions`, "permit");
  const from = parseParty(account);
  if (from === undefined) throw usageError(`"${account}" is no account`, "permit");
  const rights = parseActions(names);
  if (rights === undefined) throw usageError(`"${names}" are no actions`, "permit");
  const to = at === undefined ? ANYONE : parseParty(at);
  if (to === undefined) throw usageError(`"${at ?? ""}" is no address`, "permit");
  return { from, to, rights };
}

function urlOf({ texts }: Arguments, { environment }: CommandContext): string {
  const paths = networkPaths(dataRoot(texts["data"], environment));
  const url = texts["url"] ?? loadSupervisorRecord(paths.supervisorFile)?.rpcUrl ?? DEFAULT_URL;
  if (!URL.canParse(url)) throw usageError(`"${url}" is no URL`, "permit");
  return url;
}

function loadAdminKey(
  file: string | undefined,
  environment: CommandContext["environment"],
): Uint8Array | undefined {
  const fromEnvironment = environment[KEY_VARIABLE] ?? "";
  if (file === undefined && fromEnvironment === "") return undefined;
  const bytes = parseHex((file === undefined ? fromEnvironment : readText(file)).trim());
  if (bytes?.length === PRIVATE_KEY_SIZE) return bytes;
  const path = file === undefined ? KEY_VARIABLE : shownPath(file);
  const reason = "it holds no private key of 32 bytes in 0x-hex";
  throw new CodedError("KEY_UNREADABLE", { path, reason });
}
