/** What a caller is counted under. */
import type { Identity } from "../auth/identity.ts";

const IPV4_IN_IPV6 = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i;
const GROUPS = 8;
/** One subscriber line has at least a /64 for itself. */
const NETWORK_GROUPS = 4;

export function clientOfIdentity({ subject }: Identity): string {
  return `identity ${subject}`;
}

/** An IPv4 address; of an IPv6 address the network, because its holder has 2^64 of them. */
export function clientOfAddress(address: string | undefined): string {
  if (address === undefined) return "address unknown";
  const plain = IPV4_IN_IPV6.exec(address)?.[1] ?? address;
  return `address ${plain.includes(":") ? ipv6Network(plain) : plain}`;
}

function ipv6Network(address: string): string {
  const [head = "", tail] = address.split("%", 1)[0]?.split("::") ?? [];
  const before = groupsOf(head);
  const after = tail === undefined ? [] : groupsOf(tail);
  const zeros = new Array<string>(Math.max(0, GROUPS - before.length - after.length)).fill("0");
  return [...before, ...zeros, ...after].slice(0, NETWORK_GROUPS).join(":");
}

function groupsOf(text: string): string[] {
  return text === "" ? [] : text.split(":");
}
