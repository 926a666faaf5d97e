/** Whether the pods of a network find room on the machines of a cluster. */
import { bytesText } from "./quantity.ts";

export type Room = { readonly cpu: number; readonly memory: number };

export type NodeRoom = Room & { readonly name: string };

export type PodRequest = { readonly name: string; readonly wants: Room };

/** The pods of a network, and others that are to come beside them. */
export type PodRequests = {
  readonly replica: Room;
  readonly client: Room;
  readonly others?: readonly PodRequest[];
};

const REPLICA_COUNT = 4;

/** Undefined when all fit, else which pod does not. */
export function placePods(nodes: readonly NodeRoom[], requests: PodRequests): string | undefined {
  const pods = [
    ...Array.from({ length: REPLICA_COUNT }, (_, index) => ({
      name: `replica-${index}`,
      wants: requests.replica,
    })),
    { name: "client-0", wants: requests.client },
    ...(requests.others ?? []),
    // The largest first: that is how most fit.
  ].sort((a, b) => b.wants.cpu - a.wants.cpu || b.wants.memory - a.wants.memory);
  const free = nodes.map(({ cpu, memory }) => ({ cpu, memory }));
  for (const { name, wants } of pods) {
    // The emptiest first, as the scheduler prefers it.
    free.sort((a, b) => b.cpu - a.cpu);
    const room = free.find(({ cpu, memory }) => cpu >= wants.cpu && memory >= wants.memory);
    if (room === undefined) {
      const asked = `${wants.cpu} cores and ${bytesText(wants.memory)}`;
      return `no machine has ${asked} left for ${name}`;
    }
    room.cpu -= wants.cpu;
    room.memory -= wants.memory;
  }
  return undefined;
}
