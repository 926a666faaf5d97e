/**
 * Methods that clients know and that make no sense here, with what to do instead. They answer
 * -32004; everything else that is unknown answers -32601.
 */
import type { BoundMethod } from "../method.ts";
import { METHOD_NOT_SUPPORTED, RpcError } from "../rpc-error.ts";

const KEYS = "this node holds no keys: sign in the wallet and use eth_sendRawTransaction";
const MINING = "blocks are made by the agreement of the replicas: there is no mining";
const ACCESS_LISTS = "blocks of this chain carry no access list";
const WHISPER = "the protocol behind this method is gone";

export const UNSUPPORTED_METHODS: ReadonlyMap<string, string> = new Map([
  ["eth_sign", "this node holds no keys: sign in the wallet"],
  ["eth_signTransaction", KEYS],
  ["eth_sendTransaction", KEYS],
  ["eth_getWork", MINING],
  ["eth_submitWork", MINING],
  ["eth_submitHashrate", MINING],
  ["eth_getBlockAccessList", ACCESS_LISTS],
  ["debug_getRawBlockAccessList", ACCESS_LISTS],
  ["eth_protocolVersion", WHISPER],
]);

export function unsupportedMethods(): BoundMethod[] {
  return Array.from(UNSUPPORTED_METHODS, ([name, advice]) => ({
    name,
    run: () => {
      throw new RpcError(METHOD_NOT_SUPPORTED, `${name} is not supported: ${advice}`);
    },
  }));
}
