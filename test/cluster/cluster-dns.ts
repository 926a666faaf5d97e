/**
 * The DNS of the test cluster: addresses of services and of pods behind headless ones, as pods ask
 * for them. What the cluster has is asked of the API server over and over.
 */
import { createSocket } from "node:dgram";
import { readFileSync } from "node:fs";
import { get } from "node:https";
import path from "node:path";
import { API_PORT, DNS_PORT, NODE_ADDRESS, RUN } from "./machine.ts";

type Address = { readonly ip: string; readonly hostname?: string };
type Subset = { readonly addresses?: Address[]; readonly notReadyAddresses?: Address[] };
type Item = {
  readonly metadata: { readonly name: string; readonly namespace: string };
  readonly spec?: { readonly clusterIP?: string; readonly publishNotReadyAddresses?: boolean };
  readonly subsets?: Subset[];
};

const POLL_MS = 300;
const TYPE_A = 1;
const NAME_UNKNOWN = 3;
const HEADER_SIZE = 12;

type Records = ReadonlyMap<string, readonly string[]>;
type Credentials = { readonly ca: Buffer; readonly cert: Buffer; readonly key: Buffer };

/** Until the process is ended. */
export function serveClusterNames(): void {
  const read = (name: string): Buffer => readFileSync(path.join(RUN, "pki", name));
  const credentials = { ca: read("ca.crt"), cert: read("admin.crt"), key: read("admin.key") };
  let records: Records = new Map();
  const keepAsking = (): void => {
    readRecords(credentials)
      .then((found) => (records = found))
      .catch((error: unknown) => console.error(error))
      .finally(() => setTimeout(keepAsking, POLL_MS));
  };
  const socket = createSocket("udp4");
  socket.on("message", (query, { address, port }) => {
    try {
      socket.send(answer(query, records), port, address);
    } catch (error) {
      console.error(error);
    }
  });
  socket.bind(DNS_PORT, NODE_ADDRESS);
  keepAsking();
}

function list(place: string, credentials: Credentials): Promise<Item[]> {
  return new Promise((resolve, reject) => {
    const options = { ...credentials, host: NODE_ADDRESS, port: API_PORT, path: place };
    get(options, (response) => {
      let text = "";
      response.setEncoding("utf8").on("data", (part: string) => (text += part));
      response.on("end", () => resolve((JSON.parse(text) as { items: Item[] }).items));
    }).on("error", reject);
  });
}

async function readRecords(credentials: Credentials): Promise<Records> {
  const [services, endpoints] = await Promise.all([
    list("/api/v1/services", credentials),
    list("/api/v1/endpoints", credentials),
  ]);
  const found = new Map<string, string[]>();
  const add = (name: string, ip: string): void =>
    void found.set(name, [...(found.get(name) ?? []), ip]);
  const nameOf = ({ metadata }: Item): string => `${metadata.name}.${metadata.namespace}.svc`;
  const byName = new Map(services.map((service) => [nameOf(service), service]));
  for (const [name, { spec }] of byName) {
    if (spec?.clusterIP !== undefined && spec.clusterIP !== "None") add(name, spec.clusterIP);
  }
  for (const endpoint of endpoints) {
    const name = nameOf(endpoint);
    const spec = byName.get(name)?.spec;
    if (spec?.clusterIP !== "None") continue;
    for (const { addresses = [], notReadyAddresses = [] } of endpoint.subsets ?? []) {
      const shown = spec.publishNotReadyAddresses === true ? notReadyAddresses : [];
      for (const { ip, hostname } of [...addresses, ...shown]) {
        add(name, ip);
        if (hostname !== undefined) add(`${hostname}.${name}`, ip);
      }
    }
  }
  return found;
}

/** The answer to one question for an address (RFC 1035). */
function answer(query: Buffer, records: Records): Buffer {
  let at = HEADER_SIZE;
  const labels: string[] = [];
  for (let size = query.readUInt8(at); size > 0; size = query.readUInt8(at)) {
    labels.push(query.toString("ascii", at + 1, at + 1 + size));
    at += 1 + size;
  }
  const question = query.subarray(HEADER_SIZE, at + 5);
  const type = query.readUInt16BE(at + 1);
  const name = labels.join(".").toLowerCase();
  const known = records.get(name.replace(/\.cluster\.local$/, ""));
  const addresses = type === TYPE_A && name.endsWith(".cluster.local") ? (known ?? []) : [];
  const header = Buffer.alloc(HEADER_SIZE);
  query.copy(header, 0, 0, 2);
  const isKnown = name.endsWith(".cluster.local") && known !== undefined;
  header.writeUInt16BE(0x8580 | (isKnown ? 0 : NAME_UNKNOWN), 2);
  header.writeUInt16BE(1, 4);
  header.writeUInt16BE(addresses.length, 6);
  const answers = addresses.map((ip) =>
    // The name is the question's; type A, class IN, one second, four bytes.
    Buffer.from([0xc0, HEADER_SIZE, 0, 1, 0, 1, 0, 0, 0, 1, 0, 4, ...ip.split(".").map(Number)]),
  );
  return Buffer.concat([header, question, ...answers]);
}
