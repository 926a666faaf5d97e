/** Rights and accounts as people write them. */
import { addressToChecksumHex, parseAddress } from "../../chain/address.ts";
import { ADMIN, ALL_ACTIONS, ANYONE, DEPLOY, READ, WRITE } from "../../chain/permissions.ts";

const ACTIONS: readonly (readonly [name: string, bit: number])[] = [
  ["read", READ],
  ["write", WRITE],
  ["deploy", DEPLOY],
  ["admin", ADMIN],
];

/** `read,write` as bits, `all` as all of them; undefined if something else stands there. */
export function parseActions(text: string): number | undefined {
  if (text === "all") return ALL_ACTIONS;
  let actions = 0;
  for (const name of text.split(",")) {
    const bit = ACTIONS.find(([known]) => known === name.trim().toLowerCase())?.[1];
    if (bit === undefined) return undefined;
    actions |= bit;
  }
  return actions;
}

export function formatActions(actions: number): string {
  const names = ACTIONS.filter(([, bit]) => (actions & bit) !== 0).map(([name]) => name);
  return names.length === 0 ? "nothing" : names.join(",");
}

/** An address, or `any`. */
export function parseParty(text: string): bigint | undefined {
  return text === "any" ? ANYONE : parseAddress(text);
}

export function formatParty(address: bigint): string {
  return address === ANYONE ? "any" : addressToChecksumHex(address);
}
