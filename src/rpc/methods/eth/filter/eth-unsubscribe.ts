import type { Hex } from "../../../../base/hex.ts";
import type { Method } from "../../../method.ts";
import { parseId } from "../../../params/parameters.ts";
import { METHOD_NOT_SUPPORTED, RpcError, SERVER_ERROR } from "../../../rpc-error.ts";
import type { Subscriptions } from "../../../logs/subscriptions.ts";

export const ethUnsubscribe: Method<Subscriptions, Hex> = {
  name: "eth_unsubscribe",
  paramsMax: 1,
  parse: ([id]) => parseId(id, 0),
  handle(subscriptions, id, { connection }) {
    if (connection === undefined) {
      const message = "eth_unsubscribe needs the WebSocket that subscribed";
      throw new RpcError(METHOD_NOT_SUPPORTED, message);
    }
    if (subscriptions.remove(id, connection)) return true;
    throw new RpcError(SERVER_ERROR, "subscription not found");
  },
};
