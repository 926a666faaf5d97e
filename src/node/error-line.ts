/** What the user reads when something fails: one line, what happened and what to do. */
import { CodedError } from "../base/coded-error.ts";

type Data = Readonly<Record<string, unknown>>;
type Advice = (data: Data) => string;

/** By code. Other codes are shown with their data and the page that explains them. */
const ADVICE: Readonly<Record<string, Advice>> = {
  USAGE_WRONG: ({ message, command }) =>
    `${lowerFirst(text(message))}. Run "quorate help${command === undefined ? "" : ` ${text(command)}`}".`,
  CONFIG_INVALID: ({ path, problems }) =>
    `${text(path)}: ${text(problems)}. Correct it and start again.`,
  CONFIG_UNREADABLE: ({ path, reason }) =>
    `${text(path)} cannot be read: ${text(reason)}. Check the path and its permissions.`,
  NETWORK_RUNNING: ({ path, pid }) =>
    `a network runs on ${text(path)} already (process ${text(pid)}). ` +
    `Stop it with "quorate down --data ${text(path)}", or give another --data.`,
  NETWORK_MISSING: ({ path }) =>
    `there is no network in ${text(path)}. Make one with "quorate up", or give its --data.`,
  NETWORK_FILE_MISSING: ({ path }) =>
    `${text(path)} is gone, but its nodes have data. Put it back from a backup, ` +
    "or delete the whole directory to begin a new network.",
  GENESIS_CHANGED: ({ name, given, stored, path }) =>
    `${text(path)} was created with ${text(name)} ${text(stored)}, not ${text(given)}, and that ` +
    `cannot change. Leave --${text(name)} out, or give another --data for a new network.`,
  PORT_TAKEN: ({ host, port, user, flag }) =>
    `port ${text(port)} on ${text(host)}, which ${text(user)} needs, is taken by another program. ` +
    (flag === undefined
      ? "End that program and try again."
      : `End it, or give another ${text(flag)}.`),
  KEY_UNREADABLE: ({ path, reason }) =>
    `the key ${text(path)} cannot be used: ${text(reason)}. Put it back from a backup.`,
  KEY_WRONG: ({ path, node }) =>
    `the key ${text(path)} is not the one that the network knows ${text(node)} by. ` +
    "Put the right key back from a backup.",
  FILE_EXISTS: ({ path }) =>
    `${text(path)} is there already and is not overwritten. Choose another --out.`,
  START_TOO_SLOW: ({ seconds, logs }) =>
    `the network was not ready after ${text(seconds)} s. Look at "quorate status" and ${text(logs)}.`,
  STOP_TOO_SLOW: ({ pid }) =>
    `process ${text(pid)} has not stopped yet. Wait, or end it with "quorate down --force".`,
  WAL_CORRUPT: ({ path, reason, repair }) =>
    `the log ${text(path)} is damaged${reason === undefined ? "" : ` (${text(reason)})`}. ` +
    `Run: ${text(repair)}`,
  BLOCKS_MISSING: ({ repair }) => `final blocks below the log are gone. Run: ${text(repair)}`,
  DATA_DIRECTORY_IN_USE: ({ path, pid }) =>
    `${text(path)} is used by another process (${text(pid)}). Stop that, or use another directory.`,
  DISK_FULL: ({ path }) =>
    `no space is left${path === undefined ? "" : ` for ${text(path)}`}. Free some and start again.`,
  TRANSPORT_LISTEN_FAILED: ({ host, port }) => listenAdvice(host, port),
  RPC_TLS_INVALID: ({ reason }) =>
    `the certificate, key or authorities of ethrpc cannot be used: ${text(reason)}. ` +
    "Correct the files that rpc.tls names.",
  AUTH_SECRET_TOO_SHORT: ({ bytesMin }) =>
    `a secret for tokens needs at least ${text(bytesMin)} bytes. Make a longer one.`,
  AUTH_JWKS_FILE_INVALID: ({ path }) =>
    `${text(path)} cannot be read or holds no keys (JWKS). Correct the file.`,
  AUTH_JWKS_URL_INVALID: ({ url }) =>
    `${text(url)} is not https (or http on this machine). Give another rpc.auth.jwksUrl.`,
  RPC_LISTEN_FAILED: ({ host, port }) => listenAdvice(host, port),
  HEALTH_LISTEN_FAILED: ({ host, port }) => listenAdvice(host, port),
  GENESIS_MISMATCH: ({ path }) =>
    `the data${path === undefined ? "" : ` in ${text(path)}`} belong to another network. ` +
    "Give the data directory of this network.",
  GENESIS_TIMESTAMP_IN_FUTURE: ({ given }) =>
    `the genesis timestamp ${text(given)} is in the future. Give one that has passed.`,
  GENESIS_TIMESTAMP_MALFORMED: ({ given }) =>
    `"${text(given)}" is no timestamp. Write it as YYYY-MM-DD hh:mm:ss, in UTC and 24 hours.`,
  GENESIS_TIMESTAMP_NOT_A_DATE: ({ given }) =>
    `"${text(given)}" is no date. Write it as YYYY-MM-DD hh:mm:ss, in UTC and 24 hours.`,
  GENESIS_CHAIN_ID_OUT_OF_RANGE: ({ given }) =>
    `the chain id ${text(given)} is out of range. Give one from 1 to 9223372036854775771.`,
  GENESIS_ALLOC_OVERFLOW: () =>
    "the balances of the genesis add up to more than 256 bits. Lower the largest: the " +
    "development account of geth, for one, holds nearly all.",
  CLUSTER_ACCESS_MISSING: ({ reason }) =>
    `this is no pod that may talk to Kubernetes (${text(reason)}). The chart runs this command.`,
  CLUSTER_UNREACHABLE: ({ host, port }) =>
    `the API server at ${text(host)}:${text(port)} does not answer. Look at the cluster, then try again.`,
  CLUSTER_REFUSED: ({ action, name, status, message }) =>
    `the cluster refused to ${text(action)} Secret ${text(name)} (${text(status)}): ` +
    `${text(message)}. Look at the Role of the init Job.`,
  CLUSTER_SECRET_MISSING: ({ secret }) =>
    `Secret ${text(secret)} is not there. Put it back from a backup, or make it with ` +
    '"quorate keys create" and "kubectl create secret generic".',
  CLUSTER_SECRET_INVALID: ({ secret, reason }) =>
    `Secret ${text(secret)} cannot be used: ${text(reason)}. Put it back from a backup.`,
  CLUSTER_KEY_WRONG: ({ secret, node }) =>
    `Secret ${text(secret)} holds another key of ${text(node)} than the network knows. ` +
    "Put it back from a backup.",
  CLUSTER_GENESIS_CHANGED: ({ secret, differences, release, secrets }) =>
    `the genesis of a network never changes, and Secret ${text(secret)} says otherwise: ` +
    `${text(differences)}. Give these values as they were, or install under another name. To give ` +
    "the network up and start afresh, delete its data and keys for good: kubectl delete pvc " +
    `--selector app.kubernetes.io/instance=${text(release)}; kubectl delete secret ${text(secrets)}`,
  NETWORK_UNREACHABLE: ({ url }) => `${text(url)} does not answer. Check the URL and the network.`,
  NETWORK_CALL_FAILED: ({ method, message }) =>
    `${text(method)} failed: ${text(message)}. Look at the log of the client node.`,
  BENCH_REFUSED: ({ reason }) =>
    `the network refused a transaction of the benchmark: ${text(reason)}. Where writing needs a ` +
    "right, give --key FILE of an account that has it.",
  BENCH_GAS_NOT_FREE: ({ url }) =>
    `${text(url)} asks for a gas price, and the benchmark's accounts have no coins. ` +
    "Run it against a network where gas is free.",
  SIGN_IN_FAILED: ({ reason }) =>
    `the network did not let this account sign in (${text(reason)}). See docs/permissions.md.`,
  TX_NOT_FINAL_YET: ({ hash, seconds }) =>
    `transaction ${text(hash)} was sent and is not final after ${text(seconds)} s. ` +
    'Look at "quorate status"; it may still be included.',
  PERMIT_KEY_MISSING: () =>
    "a change needs the key of an admin. Give --key FILE, or set QUORATE_ADMIN_KEY.",
  PERMIT_CONTRACT_MISSING: ({ address }) =>
    `no permission contract answers at ${text(address)}. Check the URL: is that a Quorate network?`,
  PERMIT_NOT_ADMIN: ({ account }) =>
    `${text(account)} is no admin. Use the key of one: "quorate permit list" shows them.`,
  PERMIT_LAST_ADMIN: ({ account }) =>
    `${text(account)} is the last admin. Make another account an admin first.`,
  PERMIT_NOT_GRANTABLE: ({ from, to, actions }) =>
    `${text(actions)} cannot be granted to ${text(from)} at ${text(to)}: deploy and admin have no ` +
    "target, and admin belongs to one account. See docs/permissions.md.",
  PERMIT_FAILED: ({ hash }) =>
    `transaction ${text(hash)} was included and failed. List the permissions and try again.`,
  CERTIFICATE_MALFORMED: ({ problems }) =>
    `this is no certificate: ${text(problems)}. Give what quorate_getCertificate answers.`,
  CERTIFICATE_BLOCK_WRONG: ({ named, proved }) =>
    `the certificate proves block ${text(proved)}, not ${text(named)}. Ask for the right one.`,
  CERTIFICATE_NETWORK_WRONG: () =>
    "the certificate is of another network. Give the network file of that one.",
  CERTIFICATE_HEADER_MALFORMED: () =>
    "the certificate holds no header of a block. Do not believe it; ask another node.",
  CERTIFICATE_RESULT_WRONG: () =>
    "the header is not the one whose result was signed. Do not believe it; ask another node.",
  CERTIFICATE_VOTES_MISSING: ({ replicaCount }) =>
    `too few of the ${text(replicaCount)} replicas signed this result. ` +
    "Do not believe it; ask another node.",
  CERTIFICATE_CHAIN_BROKEN: () =>
    "the block is not on the chain of the one that is certified. " +
    "Do not believe it; ask another node.",
  CERTIFICATE_COMMIT_INVALID: () =>
    "the commit certificate does not hold. Do not believe it; ask another node.",
  SMOKE_TEST_FAILED: ({ expected, found }) =>
    `expected that ${text(expected)}, but found ${text(found)}. Look at the log of the client node.`,
};

export function errorLine(error: unknown): string {
  return `error ${errorText(error)}`;
}

/** Without the word before it: `CODE: what happened. What to do.` */
export function errorText(error: unknown): string {
  const { code, sentence } = explain(error);
  return `${code}: ${sentence}`;
}

export type Explanation = { readonly code: string; readonly sentence: string };

export function explain(error: unknown): Explanation {
  const coded = toCoded(error);
  const { node, sentence: explained } = coded.data;
  // The node explained the failure in its own process.
  if (typeof explained === "string") {
    return { code: coded.code, sentence: oneLine(`${text(node)}: ${explained}`) };
  }
  const advice = ADVICE[coded.code];
  const sentence =
    advice === undefined ? `${coded.message}. See docs/errors.md.` : advice(coded.data);
  return { code: coded.code, sentence: oneLine(sentence) };
}

/** System errors that a user can fix get a code of ours; the rest is a fault of the program. */
function toCoded(error: unknown): CodedError {
  if (error instanceof CodedError) return error;
  const { code, path } = systemErrorOf(error);
  if (code === "ENOSPC" || code === "EDQUOT") {
    return new CodedError("DISK_FULL", { path }, error);
  }
  if (code === "EACCES" || code === "EPERM" || code === "EROFS") {
    return new CodedError("CONFIG_UNREADABLE", { path: path ?? "a file", reason: code }, error);
  }
  const reason = error instanceof Error ? error.message : String(error);
  return new CodedError("INTERNAL_ERROR", { reason }, error);
}

function systemErrorOf(error: unknown): { code?: string; path?: string } {
  if (!(error instanceof Error)) return {};
  const code = "code" in error && typeof error.code === "string" ? error.code : undefined;
  const path = "path" in error && typeof error.path === "string" ? error.path : undefined;
  return { ...(code !== undefined && { code }), ...(path !== undefined && { path }) };
}

function listenAdvice(host: unknown, port: unknown): string {
  return `port ${text(port)} on ${text(host)} cannot be used. End what uses it, or choose another.`;
}

function text(value: unknown): string {
  return typeof value === "string" ? value : String(value);
}

function lowerFirst(sentence: string): string {
  return sentence.charAt(0).toLowerCase() + sentence.slice(1);
}

function oneLine(sentence: string): string {
  return sentence.replace(/\s+/g, " ").trim();
}
