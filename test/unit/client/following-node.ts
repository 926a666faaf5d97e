/**
 * A client node that follows replicas at the given ports, says what it publishes, and is killed.
 */
import { HOST } from "../../support/replica-network.ts";
import { openClient } from "./client-nodes.ts";

export const FOLLOWING_NODE = import.meta.filename;

if (import.meta.main) {
  const [dataPath = "", ...ports] = process.argv.slice(2);
  const replicas = ports.map((port) => ({ host: HOST, port: Number(port) }));
  const { node } = await openClient(dataPath, undefined, { replicas });
  node.on("blockPublished", ({ header }) => console.log(`published ${header.number}`));
}
