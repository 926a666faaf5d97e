/** A client node without a network: submits what it is told, says the hashes, and waits to be killed. */
import { transfer } from "../../support/replica-network.ts";
import { openClient } from "./client-nodes.ts";

const [dataPath = "", count = "0"] = process.argv.slice(2);
const { node } = await openClient(dataPath, undefined);
const submitted = await Promise.all(
  Array.from({ length: Number(count) }, (_, account) => node.submit(transfer(account, 0))),
);
console.log(submitted.every(({ ok }) => ok) ? "promised" : "refused");
setInterval(() => undefined, 1_000);
