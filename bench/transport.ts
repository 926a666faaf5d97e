/** What a link costs: CPU per small frame, by how many leave in one turn, and bytes per second. */
import { createTlsIdentity } from "../src/crypto/certificate.ts";
import { createSigner } from "../src/crypto/ed25519.ts";
import { DEFAULT_LINK_TIMING, REPLICA_LIMITS } from "../src/transport/transport-options.ts";
import { Transport } from "../src/transport/transport.ts";

const FRAME_SIZE = 120;
const SAMPLE_MS = 1_500;
const HOST = "127.0.0.1";

export type TransportFigures = {
  readonly what: string;
  /** CPU of this process: both ends of the link, TLS and kernel included. */
  readonly usPerFrame: number;
  readonly framesPerSecond: number;
  readonly megabytesPerSecond: number;
  /** Wall time of one frame there and one back, with nothing else under way. */
  readonly roundTripUs?: number;
};

export async function benchTransport(): Promise<TransportFigures[]> {
  const pair = await openPair();
  const figures = [
    await measurePingPong(pair),
    await measureStream(pair, FRAME_SIZE, 1),
    await measureStream(pair, FRAME_SIZE, 10),
    await measureStream(pair, FRAME_SIZE, 100),
    await measureStream(pair, 1024 * 1024, 4),
  ];
  await Promise.all([pair.low.close(), pair.high.close()]);
  return figures;
}

type Pair = {
  readonly low: Transport;
  readonly high: Transport;
  onFrame: (peer: number, frame: Uint8Array) => void;
};

async function openPair(): Promise<Pair> {
  const seeds = [0, 1].map((principal) => new Uint8Array(32).fill(principal + 1));
  const limits = { ...REPLICA_LIMITS, bytesPerSecond: 2 ** 40, framesPerSecond: 2 ** 40 };
  const handler: Pick<Pair, "onFrame"> = { onFrame: () => undefined };
  const { promise: isUp, resolve } = Promise.withResolvers<undefined>();
  const open = (self: number): Promise<Transport> => {
    const seed = seeds[self] ?? new Uint8Array(32);
    const peerSeed = seeds[1 - self] ?? new Uint8Array(32);
    const options = {
      self,
      clientPrincipalMin: 8,
      identity: createTlsIdentity(seed),
      peers: new Map([[1 - self, { publicKey: createSigner(peerSeed).publicKey }]]),
      listen: { host: HOST, port: 0 },
      replicaLimits: limits,
      timing: DEFAULT_LINK_TIMING,
    };
    return Transport.open(options, {
      onUp: () => (self === 1 ? resolve(undefined) : undefined),
      onDown: () => undefined,
      onFrame: (peer, frame) => handler.onFrame(peer, frame),
    });
  };
  const [low, high] = [await open(0), await open(1)];
  high.setEndpoint(0, { host: HOST, port: low.port });
  await isUp;
  return Object.assign(handler, { low, high });
}

/** `burst` frames per turn of the event loop, as fast as they arrive. */
async function measureStream(pair: Pair, size: number, burst: number): Promise<TransportFigures> {
  const frame = new Uint8Array(size);
  let sent = 0;
  let received = 0;
  pair.onFrame = () => received++;
  const startedMs = performance.now();
  const startedCpu = process.cpuUsage();
  while (performance.now() - startedMs < SAMPLE_MS) {
    for (let count = 0; count < burst; count++) if (pair.high.send(0, frame)) sent++;
    await new Promise((resolve) => setImmediate(resolve));
    while (sent - received > 64 * burst) await new Promise((resolve) => setImmediate(resolve));
  }
  while (received < sent) await new Promise((resolve) => setImmediate(resolve));
  return {
    what: `${burst} frames of ${size} bytes per turn`,
    ...figuresOf(startedMs, startedCpu, received, size),
  };
}

async function measurePingPong(pair: Pair): Promise<TransportFigures> {
  const frame = new Uint8Array(FRAME_SIZE);
  const startedMs = performance.now();
  const startedCpu = process.cpuUsage();
  let count = 0;
  await new Promise<void>((resolve) => {
    pair.onFrame = (peer) => {
      count++;
      if (peer === 1) pair.low.send(1, frame);
      else if (performance.now() - startedMs < SAMPLE_MS) pair.high.send(0, frame);
      else resolve();
    };
    pair.high.send(0, frame);
  });
  const roundTripUs = Math.round(((performance.now() - startedMs) * 1_000) / (count / 2));
  const figures = figuresOf(startedMs, startedCpu, count, FRAME_SIZE);
  return { what: `one frame of ${FRAME_SIZE} bytes to and fro`, ...figures, roundTripUs };
}

function figuresOf(
  startedMs: number,
  startedCpu: NodeJS.CpuUsage,
  count: number,
  size: number,
): Omit<TransportFigures, "what"> {
  const { user, system } = process.cpuUsage(startedCpu);
  const seconds = (performance.now() - startedMs) / 1_000;
  return {
    usPerFrame: Number(((user + system) / count).toFixed(2)),
    framesPerSecond: Math.round(count / seconds),
    megabytesPerSecond: Math.round((count * size) / seconds / 1e6),
  };
}
