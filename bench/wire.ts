/** What encoding, decoding and authenticating cost, in microseconds per message. */
import type { Message } from "../src/consensus/message.ts";
import { createTransaction } from "../src/wire/block-codec.ts";
import { createPeerMessageAuthenticator } from "../src/wire/authenticate.ts";
import { decodeMessage, encodeMessage } from "../src/wire/message-codec.ts";
import { hashBody } from "../src/wire/ports.ts";
import { GENESIS, REPLICA_COUNT, SignedNetwork } from "../test/support/signed-messages.ts";

const TRANSACTION_COUNT = 1_000;
const TRANSACTION_BYTES = 120;
const SAMPLE_MS = 400;

export function benchWire(): void {
  const network = new SignedNetwork(new Uint8Array(32).fill(1));
  const transactions = Array.from({ length: TRANSACTION_COUNT }, (_, index) => {
    const bytes = new Uint8Array(TRANSACTION_BYTES);
    new DataView(bytes.buffer).setUint32(0, index);
    return createTransaction(bytes, 21_000);
  });
  const body = { transactions, rejoin: undefined };
  const cases: readonly (readonly [string, Message])[] = [
    ["vote", network.vote(1)],
    ["propose of 1,000 tx", network.propose(network.blockOf(body))],
    ["new view", network.newView()],
  ];
  console.log("| message | bytes | encode us | decode us | authenticate us | known already us |");
  console.log("|---|---:|---:|---:|---:|---:|");
  for (const [name, message] of cases) {
    const bytes = encodeMessage(message);
    const remembering = authenticatorOf(network);
    const figures = [
      measureUs(() => encodeMessage(message)),
      measureUs(() => decodeMessage(bytes)),
      measureUs(() => authenticatorOf(network).authenticate(message, 0)),
      measureUs(() => remembering.authenticate(message, 0)),
    ].map((us) => us.toFixed(1));
    console.log(`| ${[name, bytes.length, ...figures].join(" | ")} |`);
  }
  const ids = measureUs(() => transactions.map(({ bytes }) => createTransaction(bytes, 0)));
  console.log(`of decoding 1,000 tx, their keccak-256 ids: ${ids.toFixed(1)} us`);
  console.log(`hash of that body: ${measureUs(() => hashBody(body)).toFixed(1)} us`);
}

function authenticatorOf(
  network: SignedNetwork,
): ReturnType<typeof createPeerMessageAuthenticator> {
  const options = { net: network.net, replicaCount: REPLICA_COUNT, genesis: GENESIS, window: 4 };
  return createPeerMessageAuthenticator(options, { verify: network.verify });
}

/** The fastest tenth of short batches: the rest is what other work on the machine costs. */
function measureUs(work: () => unknown): number {
  const batches: number[] = [];
  const endMs = performance.now() + SAMPLE_MS;
  let repeats = 1;
  while (performance.now() < endMs) {
    const startedMs = performance.now();
    for (let count = 0; count < repeats; count++) work();
    const tookMs = performance.now() - startedMs;
    batches.push((tookMs * 1_000) / repeats);
    if (tookMs < 0.5) repeats *= 2;
  }
  batches.sort((a, b) => a - b);
  return batches[Math.floor(batches.length / 10)] ?? 0;
}
