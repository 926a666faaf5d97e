/** Calls a network over ethrpc, as any program of a user would. */
import { CodedError } from "../../base/coded-error.ts";
import { isRecord } from "../../base/parse-json.ts";

export type JsonRpcCaller = (method: string, params: readonly unknown[]) => Promise<unknown>;

const REQUEST_TIMEOUT_MS = 30_000;

export function createJsonRpcCaller(
  url: string,
  headers: Readonly<Record<string, string>> = {},
): JsonRpcCaller {
  let id = 0;
  return async (method, params) => {
    id += 1;
    let status: number;
    let text: string;
    try {
      const response = await fetch(url, {
        method: "POST",
        headers: { "content-type": "application/json", accept: "application/json", ...headers },
        body: JSON.stringify({ id, jsonrpc: "2.0", method, params }),
        signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS),
      });
      status = response.status;
      text = await response.text();
    } catch (error) {
      throw new CodedError("NETWORK_UNREACHABLE", { url }, error);
    }
    return resultOf(text, { method, status });
  };
}

function resultOf(
  text: string,
  about: { readonly method: string; readonly status: number },
): unknown {
  let answer: unknown;
  try {
    answer = JSON.parse(text);
  } catch {
    answer = undefined;
  }
  if (isRecord(answer) && answer["error"] === undefined && "result" in answer) {
    return answer["result"];
  }
  const error = isRecord(answer) && isRecord(answer["error"]) ? answer["error"] : {};
  const said = error["message"];
  const message = typeof said === "string" ? said : "the answer is no JSON-RPC";
  const { code: rpcCode, data: rpcData } = error;
  throw new CodedError("NETWORK_CALL_FAILED", { ...about, message, rpcCode, rpcData });
}
