/**
 * Which WebSocket gives its place to a new one when all are taken: of the address with the most
 * that are idle, the one that has been silent for longest. Where none is idle, an address that has
 * more than its share gives up the most silent of all its own, unless it is the one that asks.
 */
export type HeldSocket = { readonly isIdle: boolean; readonly usedMs: number };

export function evictable<Held extends HeldSocket>(
  held: ReadonlyMap<Held, string>,
  newcomer: string,
  shareMax: number,
): Held | undefined {
  const counts = new Map<string, number>();
  for (const client of held.values()) counts.set(client, (counts.get(client) ?? 0) + 1);
  const mostSilent = (mayGo: (one: Held, client: string) => boolean): Held | undefined => {
    let found: Held | undefined;
    let most = 0;
    for (const [one, client] of held) {
      const count = counts.get(client) ?? 0;
      if (count < most || !mayGo(one, client)) continue;
      if (found === undefined || count > most || one.usedMs < found.usedMs) found = one;
      most = count;
    }
    return found;
  };
  const isOverShare = (client: string): boolean =>
    client !== newcomer && (counts.get(client) ?? 0) > shareMax;
  return mostSilent(({ isIdle }) => isIdle) ?? mostSilent((_, client) => isOverShare(client));
}
