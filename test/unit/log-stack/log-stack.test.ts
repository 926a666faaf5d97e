import assert from "node:assert/strict";
import { request } from "node:http";
import { after, before, describe, it } from "node:test";
import { gzipSync } from "node:zlib";
import { Prng } from "../../../src/base/prng.ts";
import { logLine, LogStackClient } from "../../support/log-stack-client.ts";

describe("log input", () => {
  let client: LogStackClient;
  before(async () => {
    client = await LogStackClient.open();
  });
  after(() => client.close());

  it("says ok when the lines are in the store, and not before", async () => {
    const response = await client.send([logLine({ message: "first", mark: "now" })]);
    assert.deepEqual([response.status, await response.text()], [200, "ok"]);
    const found = await client.search({ query: { term: { mark: "now" } } });
    assert.equal(found.hits.total.value, 1);
  });

  it("takes batches of 1 to 10,000 lines and loses none", async () => {
    for (const count of [1, 2, 999, 10_000]) {
      const lines = Array.from({ length: count }, (_, index) => logLine({ batch: count, index }));
      assert.equal((await client.send(lines)).status, 200);
      const found = await client.search({ query: { term: { batch: count } }, size: 0 });
      assert.equal(found.hits.total.value, count, `batch of ${count}`);
    }
  });

  it("takes gzip, and refuses what unpacks to too much or not at all", async () => {
    const post = (body: Uint8Array): Promise<Response> =>
      fetch(client.inputUrl, {
        method: "POST",
        headers: { "content-type": "application/x-ndjson", "content-encoding": "gzip" },
        body: Buffer.from(body),
      });
    const good = gzipSync(JSON.stringify(logLine({ packed: "yes" })));
    assert.equal((await post(good)).status, 200);
    const found = await client.search({ query: { term: { packed: "yes" } } });
    assert.equal(found.hits.total.value, 1);
    assert.equal((await post(gzipSync(Buffer.alloc(80 * 1024 * 1024)))).status, 413);
    assert.equal((await post(Buffer.from("no gzip"))).status, 400);
  });

  it("keeps bad lines among good ones, with a tag to find them by", async () => {
    await client.send([logLine({ mixed: 1 }), "not json at all", logLine({ mixed: 1 })]);
    const found = await client.search({ query: { term: { tags: "_jsonparsefailure" } } });
    assert.deepEqual(
      found.hits.hits.map(({ _source }) => _source["message"]),
      ["not json at all"],
    );
    const good = await client.search({ query: { term: { mixed: 1 } } });
    assert.equal(good.hits.total.value, 2);
  });

  it("refuses too many lines, too long a body, other methods and pages of other sites", async () => {
    const many = await client.send(["\n".repeat(100_001)]);
    assert.equal(many.status, 413);
    assert.equal((await fetch(client.inputUrl)).status, 405);
    const foreign = await client.send([logLine()], { origin: "https://elsewhere.example" });
    assert.equal(foreign.status, 403);
    const status = await new Promise<number | undefined>((resolve, reject) => {
      const headers = { host: "rebound.example", "content-type": "application/x-ndjson" };
      const sent = request(client.inputUrl, { method: "POST", headers }, (answer) => {
        answer.resume();
        resolve(answer.statusCode);
      });
      sent.on("error", reject);
      sent.end("{}");
    });
    assert.equal(status, 403);
  });

  it("asks for the user name and the password where it has been given them", async () => {
    const guarded = await LogStackClient.open({ username: "node", password: "pass:word" });
    try {
      const basic = (text: string): Record<string, string> => ({
        authorization: `Basic ${Buffer.from(text).toString("base64")}`,
      });
      assert.equal((await guarded.send([logLine()])).status, 401);
      assert.equal((await guarded.send([logLine()], basic("node:other"))).status, 401);
      assert.equal((await guarded.send([logLine()], basic("node:pass:word"))).status, 200);
    } finally {
      await guarded.close();
    }
  });

  it("survives random bodies", async () => {
    const prng = new Prng(7);
    for (let round = 0; round < 50; round += 1) {
      const bytes = Buffer.from(Array.from({ length: 200 }, () => prng.below(256)));
      const type = ["application/json", "application/x-ndjson", "text/plain"][round % 3] ?? "";
      const response = await fetch(client.inputUrl, {
        method: "POST",
        headers: { "content-type": type },
        body: bytes,
      });
      assert.equal(response.status, 200);
    }
  });
});

describe("viewer server", () => {
  let client: LogStackClient;
  before(async () => {
    client = await LogStackClient.open();
  });
  after(() => client.close());

  it("serves the page at /app/discover with a policy that lets nothing in", async () => {
    const page = await fetch(`${client.viewerUrl}/app/discover`);
    assert.equal(page.status, 200);
    const policy = page.headers.get("content-security-policy") ?? "";
    assert.match(policy, /default-src 'none'/);
    assert.doesNotMatch(policy, /unsafe|\*|https?:|data:/);
    const html = await page.text();
    const links = [...html.matchAll(/(?:src|href)="([^"]+)"/g)].map((match) => match[1] ?? "");
    assert.ok(links.length >= 3);
    for (const link of links) {
      assert.match(link, /^\/app\/assets\//, `${link} is not ours`);
      assert.equal((await fetch(client.viewerUrl + link)).status, 200, link);
    }
    assert.doesNotMatch(html, /<script>|style="|\son[a-z]+="/);
  });

  it("leads to the page and serves nothing but its own files", async () => {
    const root = await fetch(client.viewerUrl, { redirect: "manual" });
    assert.deepEqual([root.status, root.headers.get("location")], [302, "/app/discover"]);
    for (const path of [
      "/app/assets/../log-stack.ts",
      "/etc/passwd",
      "/app/assets/discover.html",
    ]) {
      assert.equal((await fetch(client.viewerUrl + path)).status, 404, path);
    }
    const foreign = { method: "POST", headers: { origin: "http://elsewhere" }, body: "{}" };
    assert.equal((await fetch(`${client.viewerUrl}/api/search`, foreign)).status, 403);
  });

  it("tells pages that watch of new entries within a second", { timeout: 10_000 }, async () => {
    const abort = new AbortController();
    const response = await fetch(`${client.viewerUrl}/api/news`, { signal: abort.signal });
    const reader = response.body?.getReader();
    assert.ok(reader !== undefined);
    const read = async (): Promise<string> =>
      Buffer.from((await reader.read()).value ?? []).toString();
    assert.match(await read(), /^data: \d+\n\n$/);
    const startedMs = performance.now();
    await client.send([logLine()]);
    assert.match(await read(), /^data: 1\n\n$/);
    assert.ok(performance.now() - startedMs < 1_000);
    abort.abort();
  });
});
