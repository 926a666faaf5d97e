/** A client node without a network: submits, says that it promised, and waits to be killed. */
import { transfer } from "../../support/replica-network.ts";
import { openClient } from "./client-nodes.ts";

export const SUBMITTING_NODE = import.meta.filename;

if (import.meta.main) {
  const [dataPath = "", count = "0"] = process.argv.slice(2);
  const { node } = await openClient(dataPath, undefined);
  const submitted = await Promise.all(
    Array.from({ length: Number(count) }, (_, account) =>
      node.pending.submitRaw(transfer(account, 0)),
    ),
  );
  console.log(submitted.every(({ ok }) => ok) ? "promised" : "refused");
}
