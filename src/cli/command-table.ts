/** All commands. Each is loaded only when it is run, so that a node does not load the others. */
import type { Command } from "./command.ts";

export type CommandEntry = { readonly summary: string; readonly load: () => Promise<Command> };

export const COMMANDS: ReadonlyMap<string, CommandEntry> = new Map<string, CommandEntry>([
  [
    "up",
    {
      summary: "start a network of four replicas and a client node on this machine",
      load: async () => (await import("./commands/up.ts")).up,
    },
  ],
  [
    "down",
    {
      summary: "stop the network",
      load: async () => (await import("./commands/down.ts")).down,
    },
  ],
  [
    "status",
    {
      summary: "leader, heights, peers, pool, and why there is no progress if there is none",
      load: async () => (await import("./commands/status.ts")).status,
    },
  ],
  [
    "logs",
    {
      summary: "what the nodes wrote",
      load: async () => (await import("./commands/logs.ts")).logs,
    },
  ],
  [
    "keys",
    {
      summary: "show the nodes' public keys, or make new keys",
      load: async () => (await import("./commands/keys.ts")).keys,
    },
  ],
  [
    "genesis",
    {
      summary: "show the genesis of a network, make a network file, or take accounts along",
      load: async () => (await import("./commands/genesis.ts")).genesis,
    },
  ],
  [
    "replica",
    {
      summary: "run one replica (what `up` and the cluster start)",
      load: async () => (await import("./commands/replica.ts")).replica,
    },
  ],
  [
    "client",
    {
      summary: "run the client node (what `up` and the cluster start)",
      load: async () => (await import("./commands/client.ts")).client,
    },
  ],
  [
    "log-stack",
    {
      summary: "run the embedded log stack (what `up --logs` starts)",
      load: async () => (await import("./commands/log-stack.ts")).logStack,
    },
  ],
  [
    "permit",
    {
      summary: "list, grant and revoke permissions",
      load: async () => (await import("./commands/permit.ts")).permit,
    },
  ],
  [
    "doctor",
    {
      summary:
        "check what a network needs, here or on a cluster, and say how to fix what is missing",
      load: async () => (await import("./commands/doctor.ts")).doctor,
    },
  ],
  [
    "smoke-test",
    {
      summary: "check a network: its genesis block, then a token that is transferred",
      load: async () => (await import("./commands/smoke-test.ts")).smokeTest,
    },
  ],
  [
    "bench",
    {
      summary: "measure how many transactions a network makes final, and how fast",
      load: async () => (await import("./commands/bench.ts")).bench,
    },
  ],
  [
    "verify-block",
    {
      summary: "check the certificates of a block, without believing any node",
      load: async () => (await import("./commands/verify-block.ts")).verifyBlockCommand,
    },
  ],
  [
    "cluster-init",
    {
      summary: "make keys and genesis in a Kubernetes cluster (what the chart runs)",
      load: async () => (await import("./commands/cluster-init.ts")).clusterInit,
    },
  ],
  [
    "version",
    {
      summary: "show the version",
      load: async () => (await import("./commands/version.ts")).version,
    },
  ],
]);
