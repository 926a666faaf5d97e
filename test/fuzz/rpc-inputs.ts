/** What callers who mean no good, or do not know better, send to a JSON-RPC port. */
import type { Prng } from "../../src/base/prng.ts";

export type Attack = { readonly kind: string; readonly body: Buffer };

const ADDRESS = "0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266";
const HASH = `0x${"ab".repeat(32)}`;
/** Right somewhere, so that a draw often gets past the first check. */
const PLAUSIBLE: readonly unknown[] = [
  ...["latest", "earliest", "pending", "safe", "finalized", "0x0", "0x1", "0x00", "0x", "0x1g"],
  ...[ADDRESS, HASH, `0x${"ff".repeat(40)}`, "0xffffffffffffffff", `0x1${"0".repeat(64)}`],
  ...[true, false, null, 0, 1, -1, 0.5, 1e308, 2 ** 53, "", [], {}, [[]], [null], "constructor"],
  ...["callTracer", "prestateTracer", { tracer: "callTracer" }, { tracer: "4byteTracer" }],
  ...["newHeads", "logs", "newPendingTransactions", "\u0000", "\ud800", "0x" + "60".repeat(3_000)],
  ...[{ to: ADDRESS, data: "0x" }, { fromBlock: "0x0", toBlock: "latest" }, [ADDRESS, HASH]],
  // Endless loops, a lot of memory, and very many logs.
  ...[{ data: "0x5b5f56" }, { data: "0x63ffffffff5f5f5f39" }, { data: "0x5b60205fa05f56" }],
];
const FIELDS = [
  ...["to", "from", "data", "input", "gas", "value", "gasPrice", "maxFeePerGas", "nonce", "type"],
  ...["accessList", "authorizationList", "address", "topics", "fromBlock", "toBlock", "blockHash"],
  ...["blockNumber", "requireCanonical", "storageKeys", "__proto__", "toString", "blockStateCalls"],
  ...["tracer", "tracerConfig", "stateOverrides", "balance", "code", "state", "stateDiff"],
];
const DAMAGE = '{}[]",:0x\\\u0000e-';
const DEPTH_MAX = 200_000;
const BATCH_MAX = 5_000;
const GIANT_BYTES = 6 * 1024 * 1024;
const GARBAGE_BYTES_MAX = 2_000;

export class RpcInputs {
  readonly #random: Prng;
  readonly #methods: readonly string[];

  constructor(random: Prng, methods: readonly string[]) {
    this.#random = random;
    this.#methods = methods;
  }

  next(): Attack {
    const random = this.#random;
    const draw = random.below(100);
    if (draw < 55) return attack("wrong parameters", this.#request());
    if (draw < 65) return { kind: "damaged JSON", body: this.#damaged() };
    if (draw < 72) return { kind: "bytes", body: Buffer.from(random.bytes(random.below(200))) };
    if (draw < 77) return { kind: "bad UTF-8", body: this.#badText() };
    if (draw < 83) return attack("huge numbers", this.#hugeNumber());
    if (draw < 87) return attack("deep nesting", this.#nested());
    if (draw < 93) return attack("batch", this.#batch());
    if (draw < 99) return attack("unknown method", this.#unknownMethod());
    return { kind: "giant", body: Buffer.alloc(GIANT_BYTES, "[") };
  }

  #request(): string {
    const random = this.#random;
    const params = Array.from({ length: random.below(5) }, () => this.#value(2));
    const method = random.pick(this.#methods);
    const id = random.chance(0.9) ? random.below(1_000) : this.#value(1);
    return JSON.stringify({ jsonrpc: "2.0", id, method, params });
  }

  #value(depth: number): unknown {
    const random = this.#random;
    if (depth === 0 || random.chance(0.6)) return random.pick(PLAUSIBLE);
    const children = Array.from({ length: random.below(5) }, () => this.#value(depth - 1));
    if (random.chance(0.4)) return children;
    return Object.fromEntries(children.map((child) => [random.pick(FIELDS), child]));
  }

  #damaged(): Buffer {
    const random = this.#random;
    const body = Buffer.from(this.#request());
    const cut = random.chance(0.5) ? body.subarray(0, random.below(body.length)) : body;
    for (let i = random.below(4); i >= 0 && cut.length > 0; i--) {
      cut[random.below(cut.length)] = DAMAGE.charCodeAt(random.below(DAMAGE.length));
    }
    return cut;
  }

  #badText(): Buffer {
    const body = Buffer.from(this.#request());
    body[this.#random.below(body.length)] = this.#random.pick([0x80, 0xc0, 0xff, 0xed, 0xf8]);
    return body;
  }

  #hugeNumber(): string {
    const random = this.#random;
    const digits = random.pick(["9", "1", "0"]).repeat(1 + random.below(20_000));
    const number = random.pick([digits, `-${digits}`, `1e${digits.slice(0, 6)}`, `"0x${digits}"`]);
    const method = random.pick(this.#methods);
    const [id, param] = random.chance(0.3) ? [number, "0"] : ["1", number];
    return `{"jsonrpc":"2.0","id":${id},"method":"${method}","params":[${param},${number}]}`;
  }

  #nested(): string {
    const random = this.#random;
    const depth = 1 + random.below(DEPTH_MAX);
    const [open, close] = random.pick([
      ["[", "]"],
      ['{"a":', "}"],
    ]);
    const value = `${open.repeat(depth)}1${close.repeat(depth)}`;
    if (random.chance(0.3)) return value;
    return `{"jsonrpc":"2.0","id":1,"method":"${random.pick(this.#methods)}","params":[${value}]}`;
  }

  #batch(): string {
    const random = this.#random;
    const length = random.chance(0.3) ? random.below(BATCH_MAX) : random.below(20);
    const light = '{"jsonrpc":"2.0","id":1,"method":"eth_chainId"}';
    const items = Array.from({ length }, () => (random.chance(0.02) ? this.#request() : light));
    return `[${items.join(",")}]`;
  }

  #unknownMethod(): string {
    const random = this.#random;
    const garbage = "x".repeat(random.below(GARBAGE_BYTES_MAX));
    const method = random.pick([
      ...["eth_", "engine_newPayloadV4", "__proto__", "constructor", "toString", "", garbage],
      ...["eth_call\u0000", "ETH_CALL", "<script>", "../../etc/passwd"],
    ]);
    return JSON.stringify({ jsonrpc: "2.0", id: 1, method, params: this.#value(2) });
  }
}

function attack(kind: string, text: string): Attack {
  return { kind, body: Buffer.from(text) };
}
