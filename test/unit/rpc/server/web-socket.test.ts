import assert from "node:assert/strict";
import { once } from "node:events";
import { connect } from "node:net";
import { after, before, describe, it } from "node:test";
import { WebSocket } from "ws";
import { bytesToHex } from "../../../../src/base/hex.ts";
import { until } from "../../../support/following-client.ts";
import {
  CONTRACTS,
  hexOf,
  LOG_TOPIC,
  RpcNode,
  type RpcResponse,
  topic,
  word,
} from "../rpc-node.ts";

type Json = Readonly<Record<string, unknown>>;
type Note = { readonly subscription: string; readonly result: unknown };

/** A client that keeps all that it receives. */
class Client {
  readonly socket: WebSocket;
  readonly notes: Note[] = [];
  readonly order: string[] = [];
  readonly #answers = new Map<number, (response: RpcResponse) => void>();
  #lastId = 0;

  private constructor(socket: WebSocket) {
    this.socket = socket;
    socket.on("message", (data: Buffer) => {
      const message = JSON.parse(data.toString()) as RpcResponse & { params?: Note };
      if (message.params === undefined) {
        this.order.push("answer");
        this.#answers.get(message.id as number)?.(message);
      } else {
        this.order.push("note");
        this.notes.push(message.params);
      }
    });
  }

  static async open(node: RpcNode, path = "/", headers = {}): Promise<Client> {
    const socket = new WebSocket(node.url(path).replace("http", "ws"), { headers });
    const client = new Client(socket);
    await once(socket, "open");
    return client;
  }

  request(method: string, ...params: readonly unknown[]): Promise<RpcResponse> {
    const id = ++this.#lastId;
    return new Promise((resolve) => {
      this.#answers.set(id, resolve);
      this.socket.send(JSON.stringify({ jsonrpc: "2.0", id, method, params }));
    });
  }

  async result(method: string, ...params: readonly unknown[]): Promise<unknown> {
    const response = await this.request(method, ...params);
    assert.equal(response.error, undefined);
    return response.result;
  }

  of(subscription: unknown): unknown[] {
    return this.notes.filter((note) => note.subscription === subscription).map((n) => n.result);
  }
}

describe("WebSockets", () => {
  let node: RpcNode;
  let nonce = 0n;

  const log = async (value: bigint): Promise<string> => {
    const hash = await node.send(0, { nonce, to: CONTRACTS.logger, data: topic(value) });
    nonce++;
    return hash;
  };

  before(async () => {
    const limits = { connectionSubscriptionsMax: 4, socketsMax: 1_200, socketRequestsMax: 1 };
    node = await RpcNode.open({ limits });
  });
  after(() => node.close());

  it("answers all that are sent at once, however few it takes at a time", async () => {
    const client = await Client.open(node);
    const asked = Array.from({ length: 50 }, () =>
      client.result("eth_getLogs", { fromBlock: "0x0" }),
    );
    const late = new Promise<never>((_resolve, reject) => {
      setTimeout(() => reject(new Error("some are not answered")), 20_000).unref();
    });
    await Promise.race([Promise.all(asked), late]);
    client.socket.terminate();
  });

  it("speak the dialect of their path", async () => {
    const legacy = await Client.open(node);
    const standard = await Client.open(node, "/standard");
    const block = (await legacy.request("eth_getBlockByNumber", "0x0", true)) as Json;
    assert.equal(block["method"], "eth_getBlockByNumber");
    assert.equal(typeof (block["result"] as Json)["size"], "number");
    const strict = (await standard.request("eth_getBlockByNumber", "0x0", true)) as Json;
    assert.equal("method" in strict, false);
    assert.equal(typeof (strict["result"] as Json)["size"], "string");
    legacy.socket.send("{");
    const batch = [1, 2].map((id) => ({ jsonrpc: "2.0", id, method: "eth_chainId", params: [] }));
    legacy.socket.send(JSON.stringify(batch));
    await once(legacy.socket, "message");
    legacy.socket.close();
    standard.socket.close();
  });

  it("tell of blocks, logs and waiting transactions", async () => {
    const client = await Client.open(node, "/standard");
    const heads = await client.result("eth_subscribe", "newHeads");
    const address = hexOf(CONTRACTS.logger);
    const logs = await client.result("eth_subscribe", "logs", { address, topics: [[], word(7n)] });
    const hashes = await client.result("eth_subscribe", "newPendingTransactions");
    const records = await client.result("eth_subscribe", "newPendingTransactions", true);
    assert.equal((await client.request("eth_subscribe", "newHeads")).error!.code, -32005);
    const sent = [await log(7n), await log(8n)];
    const block = node.chain.seal();
    await until(() => client.of(heads).length === 1, "the block is announced");
    const [head] = client.of(heads) as readonly Json[];
    const asked = (await client.result(
      "eth_getBlockByHash",
      bytesToHex(block.hash),
      false,
    )) as Json;
    for (const [name, value] of Object.entries(head!)) assert.deepEqual(value, asked[name], name);
    assert.equal("transactions" in head!, false);
    await until(() => client.of(logs).length === 1, "the log is announced");
    const [one] = client.of(logs) as readonly Json[];
    assert.deepEqual(one!["topics"], [word(LOG_TOPIC), word(7n)]);
    assert.deepEqual(client.of(hashes), sent);
    assert.deepEqual(
      (client.of(records) as readonly Json[]).map(({ hash }) => hash),
      sent,
    );
    assert.equal(await client.result("eth_unsubscribe", heads), true);
    assert.equal((await client.request("eth_unsubscribe", heads)).error!.code, -32000);
    await log(9n);
    node.chain.seal();
    await client.result("eth_blockNumber");
    assert.equal(client.of(heads).length, 1, "nothing comes after the end");
    client.socket.close();
  });

  it("say whether the node catches up", async () => {
    const client = await Client.open(node);
    node.chain.progress = { startingBlock: 1n, currentBlock: 2n, highestBlock: 300n };
    const id = await client.result("eth_subscribe", "syncing");
    await until(() => client.of(id).length === 1, "the state is announced");
    node.chain.progress = undefined;
    await log(1n);
    node.chain.seal();
    await until(() => client.of(id).length === 2, "the change is announced");
    assert.equal((client.of(id)[0] as Json)["syncing"], true);
    assert.equal(client.of(id)[1], false);
    client.socket.close();
  });

  it("tell 1,000 subscribers of every block once and in order", async () => {
    const clients = await Promise.all(Array.from({ length: 1_000 }, () => Client.open(node)));
    await Promise.all(clients.map((client) => client.result("eth_subscribe", "newHeads")));
    const numbers: string[] = [];
    for (let count = 0; count < 5; count++) {
      await log(1n);
      numbers.push(`0x${node.chain.seal().header.number.toString(16)}`);
    }
    await until(() => clients.every(({ notes }) => notes.length === 5), "all have all", 30_000);
    for (const { notes, order } of clients) {
      assert.deepEqual(
        notes.map(({ result }) => (result as Json)["number"]),
        numbers,
      );
      assert.equal(order[0], "answer", "the id comes before what comes under it");
    }
    for (const { socket } of clients) socket.terminate();
    await until(() => node.server.socketCount === 0, "all are gone");
  });

  it("are closed with a reason when they are not read", async () => {
    const slow = await RpcNode.open({ limits: { socketBufferedBytesMax: 100_000 } });
    try {
      const client = await Client.open(slow, "/standard");
      await client.result("eth_subscribe", "newHeads");
      const closed = once(client.socket, "close") as Promise<[number, Buffer]>;
      client.socket.pause();
      // Answers of about 13 kB each, which the client does not read: the system's buffers fill up
      // first.
      const block = JSON.stringify({
        ...{ jsonrpc: "2.0", id: 1, method: "eth_getBlockByNumber" },
        params: ["0x0", true],
      });
      const batch = `[${Array.from({ length: 900 }, () => block).join(",")}]`;
      for (let count = 0; count < 40 && slow.server.socketCount > 0; count++) {
        client.socket.send(batch);
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
      await until(() => slow.server.socketCount === 0, "the slow reader is cut off", 10_000);
      client.socket.resume();
      const [code] = await closed;
      assert.ok(code === 1008 || code === 1006, `closed with ${code}`);
      assert.equal(typeof (await slow.standard("eth_blockNumber")), "string");
    } finally {
      await slow.close();
    }
  });

  it("are refused to strange pages, on strange paths and beyond their number", async () => {
    const few = await RpcNode.open({ limits: { socketsMax: 1 } });
    const status = async (path: string, headers = {}): Promise<number> => {
      const socket = new WebSocket(few.url(path).replace("http", "ws"), { headers });
      const [, response] = (await once(socket, "unexpected-response")) as [
        unknown,
        { statusCode: number },
      ];
      socket.on("error", () => undefined);
      socket.terminate();
      return response.statusCode;
    };
    try {
      assert.equal(await status("/", { origin: "https://evil.example" }), 403);
      assert.equal(await status("/", { host: "evil.example" }), 403);
      assert.equal(await status("/other"), 404);
      const only = await Client.open(few, "/", { origin: "http://localhost:3000" });
      await only.result("eth_subscribe", "newHeads");
      assert.equal(await status("/"), 503);
      only.socket.close();
    } finally {
      await few.close();
    }
  });

  it("give way to a new one when all places are taken and they are idle", async () => {
    const few = await RpcNode.open({ limits: { socketsMax: 2 } });
    try {
      const watching = await Client.open(few);
      await watching.result("eth_subscribe", "newHeads");
      const idle = await Client.open(few);
      const closed = once(idle.socket, "close");
      const third = await Client.open(few);
      await closed;
      assert.equal(typeof (await third.result("eth_blockNumber")), "string");
      assert.equal(typeof (await watching.result("eth_blockNumber")), "string");
      watching.socket.close();
      third.socket.close();
    } finally {
      await few.close();
    }
  });

  it("end when they send what is too long or no WebSocket", async () => {
    const small = await RpcNode.open({ limits: { bodyBytesMax: 1_000 } });
    try {
      const client = await Client.open(small);
      client.socket.send("x".repeat(2_000));
      const [code] = (await once(client.socket, "close")) as [number];
      assert.equal(code, 1009);
      const raw = connect(small.server.port, "127.0.0.1");
      raw.write(
        "GET / HTTP/1.1\r\nhost: localhost\r\nupgrade: websocket\r\nconnection: upgrade\r\n\r\n",
      );
      const [data] = (await once(raw, "data")) as [Buffer];
      assert.match(data.toString(), /^HTTP\/1\.1 400/);
      raw.destroy();
    } finally {
      await small.close();
    }
  });

  it("need no subscription over HTTP", async () => {
    const { error } = await node.request("/", "eth_subscribe", ["newHeads"]);
    assert.equal(error!.code, -32004);
    assert.match(error!.message, /WebSocket/);
  });
});
