/** Ports of this machine: which are free, and whether one still is. */
import { randomInt } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:net";
import { CodedError } from "../base/coded-error.ts";

export const LOOPBACK = "127.0.0.1";

/**
 * Below what systems hand out by themselves: a port from there could be the local end of some
 * connection when the network starts the next time.
 */
const PORT_MIN = 20_000;
const PORT_LIMIT = 32_000;
const ATTEMPTS_MAX = 1_000;

/** Different ones, none of them in use now. */
export async function chooseFreePorts(count: number): Promise<readonly number[]> {
  const chosen = new Set<number>();
  for (let attempt = 0; attempt < ATTEMPTS_MAX && chosen.size < count; attempt++) {
    const port = randomInt(PORT_MIN, PORT_LIMIT);
    if (!chosen.has(port) && (await isFree(LOOPBACK, port))) chosen.add(port);
  }
  if (chosen.size === count) return [...chosen];
  throw new CodedError("PORT_TAKEN", {
    host: LOOPBACK,
    port: `${PORT_MIN}-${PORT_LIMIT}`,
    user: "a node",
  });
}

export async function isFree(host: string, port: number): Promise<boolean> {
  const server = createServer();
  try {
    server.listen({ host, port, exclusive: true });
    await once(server, "listening");
  } catch {
    return false;
  }
  server.close();
  await once(server, "close");
  return true;
}
