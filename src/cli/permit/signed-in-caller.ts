/**
 * Asks a network and, where reads are permissioned, signs in with the key at hand when the network
 * asks for it: the same way that a wallet does.
 */
import { CodedError } from "../../base/coded-error.ts";
import { bytesToHex } from "../../base/hex.ts";
import { concatBytes } from "../../base/bytes.ts";
import { addressToHex, publicKeyToAddress } from "../../chain/address.ts";
import { isRecord } from "../../config/json-fields.ts";
import { publicKeyOf, sign } from "../../crypto/secp256k1.ts";
import { personalMessageHash } from "../../rpc/auth/personal-message.ts";
import { CHALLENGE_PATH, TOKEN_PATH } from "../../rpc/auth/sign-in-endpoints.ts";
import { createJsonRpcCaller, type JsonRpcCaller } from "../smoke-test/json-rpc-caller.ts";

const NOT_SIGNED = -32602;
const NOT_SIGNED_MESSAGE = "Request not signed";
const REQUEST_TIMEOUT_MS = 10_000;

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

/** A token for the account of the key. Throws SIGN_IN_FAILED. */
export async function signIn(url: string, privateKey: Uint8Array): Promise<string> {
  const address = addressToHex(publicKeyToAddress(publicKeyOf(privateKey)));
  const challenge = await ask(new URL(`${CHALLENGE_PATH}?address=${address}`, url), undefined);
  const message = String(challenge["message"]);
  const { signature, recoveryId } = sign(personalMessageHash(message), privateKey);
  const bytes = concatBytes(signature, Uint8Array.of(27 + recoveryId));
  const answer = await ask(new URL(TOKEN_PATH, url), { message, signature: bytesToHex(bytes) });
  return String(answer["token"]);
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
