import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { Dispatcher } from "../../../../src/rpc/server/dispatcher.ts";
import { bindMethod } from "../../../../src/rpc/method.ts";
import { RequestCorrelation } from "../../../../src/rpc/server/request-correlation.ts";
import { type RequestNote, transactionOf } from "../../../../src/rpc/server/request-trace.ts";
import { DEFAULT_RPC_LIMITS } from "../../../../src/rpc/rpc-options.ts";

const UUID = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/;
const TRACE = "4bf92f3577b34da6a3ce929d0e0e4736";
const HASH = `0x${"Ab".repeat(32)}`;

describe("the correlation id of a request", () => {
  it("is the caller's own, if it is short and plain", () => {
    for (const given of ["a", "order-4711", "svc.a:b_c", "x".repeat(64)]) {
      assert.equal(new RequestCorrelation({ "x-correlation-id": given }).id, given);
    }
  });

  it("is the trace of a traceparent", () => {
    const traceparent = `00-${TRACE}-00f067aa0ba902b7-01`;
    assert.equal(new RequestCorrelation({ traceparent }).id, TRACE);
    const both = { traceparent, "x-correlation-id": "own" };
    assert.equal(new RequestCorrelation(both).id, "own");
  });

  it("is made, once, where none was given or it is not decent", () => {
    const parents = [`ff-${TRACE}-00f067aa0ba902b7-01`, `00-${"0".repeat(32)}-00f067aa0ba902b7-01`];
    for (const traceparent of [...parents, `00-${TRACE}-${"0".repeat(16)}-01`, TRACE]) {
      assert.match(new RequestCorrelation({ traceparent }).id, UUID);
    }
    for (const given of ["", "x".repeat(65), 'a"b', "a b", "a\u001b[31m", "-a", "ü", "a\n"]) {
      assert.match(new RequestCorrelation({ "x-correlation-id": given }).id, UUID, given);
    }
    const made = new RequestCorrelation({});
    assert.match(made.id, UUID);
    assert.equal(made.id, made.id);
    assert.notEqual(made.id, new RequestCorrelation({}).id);
  });
});

describe("the trace of requests", () => {
  const encode = (request: object): Uint8Array =>
    new TextEncoder().encode(JSON.stringify({ jsonrpc: "2.0", id: 1, ...request }));
  const notes: RequestNote[] = [];
  const failures: (string | undefined)[] = [];
  let isOn = true;
  const method = {
    name: "eth_sendRawTransaction",
    paramsMax: 1,
    parse: ([first]: readonly unknown[]) => first,
    handle: (_reader: undefined, first: unknown) => {
      if (first === "fail") throw new Error("ours");
      return HASH;
    },
  };
  const dispatcher = new Dispatcher(DEFAULT_RPC_LIMITS, {
    methods: new Map([[method.name, bindMethod(method, undefined)]]),
    trace: { isOn: () => isOn, note: (note) => void notes.push(note) },
    onInternalError: (_method, _error, id) => failures.push(id),
  });
  const ask = async (request: object): Promise<void> => {
    const correlation = new RequestCorrelation({ "x-correlation-id": "own" });
    await dispatcher.answer(encode(request), "standard", { correlation });
  };

  it("names the request, its method and its transaction", async () => {
    await ask({ method: method.name, params: ["0x01"] });
    const { ms, ...note } = notes.pop()!;
    const expected = { correlationId: "own", method: method.name, code: undefined };
    assert.deepEqual(note, { ...expected, transaction: HASH.toLowerCase() });
    assert.ok(ms >= 0);
  });

  it("does not repeat the name of a method that does not exist", async () => {
    await ask({ method: "lies", params: [] });
    assert.equal(notes.pop()?.method, undefined);
  });

  it("makes no entry while it is not logged", async () => {
    isOn = false;
    await ask({ method: method.name, params: ["0x01"] });
    assert.deepEqual(notes, []);
    isOn = true;
  });

  it("gives the id of what failed inside the node, whether on or not", async () => {
    isOn = false;
    await ask({ method: method.name, params: ["fail"] });
    assert.deepEqual(failures, ["own"]);
  });
});

describe("the transaction of a request", () => {
  it("is found in the result of a submission and in the question of other methods", () => {
    const hash = HASH.toLowerCase();
    assert.equal(transactionOf("eth_sendRawTransaction", ["0x02"], HASH), hash);
    const receipt = { transactionHash: HASH };
    assert.equal(transactionOf("eth_sendRawTransactionSync", ["0x02"], receipt), hash);
    assert.equal(transactionOf("eth_getTransactionReceipt", [HASH], null), hash);
    assert.equal(transactionOf("debug_traceTransaction", [HASH], undefined), hash);
  });

  it("is none where the request is about something else", () => {
    assert.equal(transactionOf("eth_getBlockByHash", [HASH], null), undefined);
    assert.equal(transactionOf("eth_sendRawTransaction", ["0x02"], undefined), undefined);
  });
});
