import { parseLogCriteria } from "../../../logs/log-filter.ts";
import type { Method, MethodContext } from "../../../method.ts";
import { invalidParameter, isAbsent, parseBoolean } from "../../../params/parameters.ts";
import { METHOD_NOT_SUPPORTED, RpcError } from "../../../rpc-error.ts";
import type { Subscriptions, Topic } from "../../../logs/subscriptions.ts";

export const ethSubscribe: Method<Subscriptions, Topic> = {
  name: "eth_subscribe",
  paramsMax: 2,
  parse: ([name, detail], context) => parseTopic(name, detail, context),
  handle(subscriptions, topic, { connection, limits }) {
    if (connection === undefined) {
      const message = "eth_subscribe needs a WebSocket; over HTTP use eth_newFilter";
      throw new RpcError(METHOD_NOT_SUPPORTED, message);
    }
    return subscriptions.add(topic, connection, limits);
  },
};

function parseTopic(name: unknown, detail: unknown, context: MethodContext): Topic {
  switch (name) {
    case "newHeads":
    case "syncing":
      return { kind: name };
    case "logs":
      return { kind: name, criteria: parseLogCriteria(detail, 1, context) };
    case "newPendingTransactions":
      return { kind: name, isFull: isAbsent(detail) ? false : parseBoolean(detail, 1) };
    default: {
      const names = "newHeads, logs, newPendingTransactions or syncing";
      throw invalidParameter(0, names, name);
    }
  }
}
