import type { PoolReader } from "../../../api/chain-reader.ts";
import type { Method } from "../../method.ts";
import { quantity } from "../../format/quantity.ts";

/** `pending` can be ordered now; `queued` waits for an earlier nonce. */
export const txpoolStatus: Method<PoolReader, undefined> = {
  name: "txpool_status",
  paramsMax: 0,
  parse: () => undefined,
  async handle(pool) {
    const { executable, queued } = await pool.poolStatus();
    return { pending: quantity(executable), queued: quantity(queued) };
  },
};
