/**
 * Asks a network and, where reads are permissioned, signs in with the user's key when the network
 * requires it, as a wallet does.
 */
import { CodedError } from "../../base/coded-error.ts";
import { bytesToHex } from "../../base/hex.ts";
import { concatBytes } from "../../base/bytes.ts";
import { publicKeyToAddress } from "../../chain/address.ts";
import { isRecord } from "../../base/parse-json.ts";
import { publicKeyOf, sign } from "../../crypto/secp256k1.ts";
import { personalMessageHash } from "../../rpc/auth/personal-message.ts";
import { formatSiweMessage } from "../../rpc/auth/siwe-message.ts";
import { CHALLENGE_PATH, TOKEN_PATH } from "../../rpc/auth/sign-in-endpoints.ts";
import { createJsonRpcCaller, type JsonRpcCaller } from "../smoke-test/json-rpc-caller.ts";

const NOT_SIGNED = -32602;
const NOT_SIGNED_MESSAGE = "Request not signed";
const REQUEST_TIMEOUT_MS = 10_000;
/** As EIP-4361 has it: nothing that could be another line of the text. */
const NONCE = /^[A-Za-z0-9]{8,128}$/;
const CHAIN_ID = /^0x[0-9a-f]{1,16}$/;
const TOKEN_LIFETIME_MS = 60 * 60 * 1_000;

export function createSignedInCaller(
  url: string,
  privateKey: Uint8Array | undefined,
): JsonRpcCaller {
  let call = createJsonRpcCaller(url);
  return async (method, params) => {
    try {
      return await call(method, params);
    } catch (error) {
      if (privateKey === undefined || !isNotSigned(error)) throw error;
      const token = await signIn(url, privateKey);
      call = createJsonRpcCaller(url, { authorization: `Bearer ${token}` });
      return call(method, params);
    }
  };
}

/**
 * A token for the account of the key. The text that is signed is written here, with the host name
 * that the user gave: a node that relays the challenge of another network gets a signature that is
 * invalid there. Only the nonce comes from the node. Throws SIGN_IN_FAILED.
 */
export async function signIn(url: string, privateKey: Uint8Array): Promise<string> {
  const { nonce } = await ask(new URL(CHALLENGE_PATH, url), undefined);
  if (typeof nonce !== "string" || !NONCE.test(nonce)) {
    throw new CodedError("SIGN_IN_FAILED", { reason: "the nonce of the node is none" });
  }
  const { host, origin } = new URL(url);
  const issuedAtMs = Date.now();
  const message = formatSiweMessage({
    scheme: undefined,
    domain: host,
    address: publicKeyToAddress(publicKeyOf(privateKey)),
    statement: "Let the quorate command read from this network.",
    uri: origin,
    chainId: await askChainId(createJsonRpcCaller(url)),
    nonce,
    issuedAtMs,
    expirationMs: issuedAtMs + TOKEN_LIFETIME_MS,
    notBeforeMs: undefined,
    requestId: undefined,
    resources: [],
  });
  const { signature, recoveryId } = sign(personalMessageHash(message), privateKey);
  const bytes = concatBytes(signature, Uint8Array.of(27 + recoveryId));
  const answer = await ask(new URL(TOKEN_PATH, url), { message, signature: bytesToHex(bytes) });
  return String(answer["token"]);
}

async function askChainId(call: JsonRpcCaller): Promise<bigint> {
  const value = await call("eth_chainId", []);
  if (typeof value === "string" && CHAIN_ID.test(value)) return BigInt(value);
  throw new CodedError("SIGN_IN_FAILED", { reason: "the chain id of the node is none" });
}

async function ask(
  url: URL,
  body: Readonly<Record<string, string>> | undefined,
): Promise<Readonly<Record<string, unknown>>> {
  const post = {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  };
  let answer: unknown;
  try {
    const signal = AbortSignal.timeout(REQUEST_TIMEOUT_MS);
    const response = await fetch(url, body === undefined ? { signal } : { ...post, signal });
    answer = await response.json();
  } catch (error) {
    throw new CodedError("NETWORK_UNREACHABLE", { url: url.href }, error);
  }
  const fields = isRecord(answer) ? answer : {};
  const error = fields["error"];
  if (!isRecord(answer) || error !== undefined) {
    const reason = isRecord(error) ? error["code"] : "the answer is no record";
    throw new CodedError("SIGN_IN_FAILED", { reason });
  }
  return fields;
}

function isNotSigned(error: unknown): boolean {
  if (!(error instanceof CodedError)) return false;
  const { rpcCode, message } = error.data;
  return rpcCode === NOT_SIGNED && message === NOT_SIGNED_MESSAGE;
}
