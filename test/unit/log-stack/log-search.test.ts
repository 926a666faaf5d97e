import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { logLine, LogStackClient, logtimeOf } from "../../support/log-stack-client.ts";

const DAY_MS = Date.UTC(2026, 2, 1);

/** Entries by a letter, so that a result reads as a word. */
const ENTRIES = [
  { id: "a", at: 0, service_name: "replica-0", level: "info", message: "view changed", view: 3 },
  { id: "b", at: 1_500, service_name: "replica-1", level: "warn", message: "peer down", view: 4 },
  {
    id: "c",
    at: 2_500,
    service_name: "replica-1",
    level: "info",
    message: "peer up: view changed",
  },
  { id: "d", at: 61_000, service_name: "client-0-ethrpc", level: "error", message: "Disk is full" },
  {
    id: "e",
    at: 62_000,
    service_name: "client-0-ethrpc",
    level: "info",
    nested: { deep: "Inner value" },
  },
  { id: "f", at: 3_600_000, blockchain_id: "chain-b", level: "info", isFinal: true, view: 10 },
].map(({ at, ...fields }) => logLine({ ...fields, logtime: logtimeOf(DAY_MS + at) }));

describe("log search", () => {
  let client: LogStackClient;
  before(async () => {
    client = await LogStackClient.open();
    await client.send(ENTRIES);
  });
  after(() => client.close());

  async function lettersOf(query: unknown): Promise<string> {
    const found = await client.search({ query, sort: [{ "@timestamp": "asc" }] });
    const letters = found.hits.hits.map(({ _source }) => String(_source["id"])).join("");
    assert.equal(found.hits.total.value, letters.length);
    return letters;
  }

  const queries: readonly (readonly [unknown, string])[] = [
    [{ match_all: {} }, "abcdef"],
    [{ match_none: {} }, ""],
    [{ term: { service_name: "replica-1" } }, "bc"],
    [{ term: { "service_name.keyword": { value: "replica-1" } } }, "bc"],
    [{ terms: { level: ["warn", "error"] } }, "bd"],
    [{ term: { view: 3 } }, "a"],
    [{ term: { view: "3" } }, "a"],
    [{ term: { isFinal: true } }, "f"],
    [{ term: { blockchain_id: "chain-b" } }, "f"],
    [{ term: { "nested.deep": "Inner value" } }, "e"],
    [{ term: { "nested.deep": "Inner" } }, ""],
    [{ match: { message: "view peer" } }, "abc"],
    [{ match: { message: { query: "view peer", operator: "and" } } }, "c"],
    [{ match: { "nested.deep": "inner" } }, "e"],
    [{ match_phrase: { message: "view changed" } }, "ac"],
    [{ match_phrase: { message: "changed view" } }, ""],
    [{ prefix: { service_name: "client-" } }, "de"],
    [{ exists: { field: "view" } }, "abf"],
    [{ exists: { field: "tags" } }, ""],
    [{ range: { view: { gte: 4 } } }, "bf"],
    [{ range: { view: { gt: 3, lt: 10 } } }, "b"],
    [{ range: { "@timestamp": { gte: "2026-03-01T00:01:00Z", lt: "2026-03-01T01:00:00" } } }, "de"],
    [{ range: { "@timestamp": { gte: DAY_MS, lte: DAY_MS + 1_500 } } }, "ab"],
    [{ range: { "@timestamp": { gt: "now-1m" } } }, ""],
    [{ ids: { values: ["1", "3"] } }, "ac"],
    [{ bool: { must: [{ match: { message: "view" } }], must_not: [{ term: { view: 3 } }] } }, "c"],
    [{ bool: { should: [{ term: { view: 3 } }, { term: { view: 4 } }] } }, "ab"],
    [
      {
        bool: {
          should: [{ term: { level: "info" } }, { exists: { field: "view" } }],
          minimum_should_match: 2,
        },
      },
      "af",
    ],
    [{ bool: { must_not: { exists: { field: "view" } } } }, "cde"],
    [{ bool: {} }, "abcdef"],
  ];
  for (const [query, letters] of queries) {
    it(`finds ${letters === "" ? "nothing" : letters} for ${JSON.stringify(query)}`, async () => {
      assert.equal(await lettersOf(query), letters);
    });
  }

  const texts: readonly (readonly [string, string, string])[] = [
    ["", "abcdef", "abcdef"],
    ["*", "abcdef", "abcdef"],
    ["view", "ac", "ac"],
    ["VIEW", "ac", "ac"],
    ["view down", "abc", ""],
    ["view AND up", "c", "c"],
    ["view && up", "c", "c"],
    ["full OR down", "bd", "bd"],
    ['"view changed"', "ac", "ac"],
    ["chang*", "ac", "ac"],
    ["level:error", "d", "d"],
    ["service_name:replica-1 level:info", "abcef", "c"],
    ["service_name:replica-1 AND NOT level:info", "b", "b"],
    ["-level:info", "bd", "bd"],
    ["+view -up", "a", "a"],
    ["view:>=4", "bf", "bf"],
    ["view:[3 TO 4]", "ab", "ab"],
    ["view:{3 TO *}", "bf", "bf"],
    ["view:*", "abf", "abf"],
    ["_exists_:nested", "e", "e"],
    ["level:(warn OR error)", "bd", "bd"],
    ["(view AND changed) OR full", "acd", "acd"],
    ["service_name:client*", "de", "de"],
    ['message:"disk is full"', "d", "d"],
    ["nested.deep:inner", "e", "e"],
    ["isFinal:true", "f", "f"],
    ["up\\: view", "ac", "c"],
  ];
  for (const [text, some, every] of texts) {
    it(`finds ${some} or ${every} for the text ${JSON.stringify(text)}`, async () => {
      assert.equal(await lettersOf({ query_string: { query: text } }), some, "joined by or");
      const query = { query_string: { query: text, default_operator: "AND" } };
      assert.equal(await lettersOf(query), every, "joined by and");
    });
  }

  it("counts by time, without gaps, and by level within a time", async () => {
    const found = await client.search({
      size: 0,
      query: { range: { "@timestamp": { lt: "2026-03-01T00:30:00Z" } } },
      aggs: {
        chart: {
          date_histogram: { field: "@timestamp", fixed_interval: "30s" },
          aggs: { levels: { terms: { field: "level" } } },
        },
      },
    });
    const buckets = found.aggregations["chart"]?.buckets ?? [];
    assert.deepEqual(
      buckets.map((bucket) => [bucket["key_as_string"], bucket.doc_count]),
      [
        ["2026-03-01T00:00:00.000Z", 3],
        ["2026-03-01T00:00:30.000Z", 0],
        ["2026-03-01T00:01:00.000Z", 2],
      ],
    );
    assert.deepEqual(buckets[0]?.["levels"], {
      buckets: [
        { key: "info", doc_count: 2 },
        { key: "warn", doc_count: 1 },
      ],
    });
  });

  it("counts by the values of any field", async () => {
    const aggs = {
      services: { terms: { field: "service_name.keyword", size: 2 } },
      views: { terms: { field: "view" } },
    };
    const { aggregations } = await client.search({ size: 0, aggs });
    assert.deepEqual(
      aggregations["services"]?.buckets.map((bucket) => [bucket["key"], bucket.doc_count]),
      [
        ["client-0-ethrpc", 2],
        ["replica-0", 2],
      ],
    );
    assert.equal(aggregations["views"]?.buckets.length, 3);
  });

  it("gives pages by from and size, and goes on after the last hit", async () => {
    const sort = [{ "@timestamp": { order: "desc" } }];
    const first = await client.search({ sort, size: 2 });
    const last = first.hits.hits[1];
    assert.ok(last !== undefined);
    const next = await client.search({ sort, size: 2, search_after: last.sort });
    const paged = await client.search({ sort, size: 2, from: 2 });
    assert.deepEqual(next.hits.hits, paged.hits.hits);
    assert.deepEqual(
      next.hits.hits.map(({ _source }) => _source["id"]),
      ["d", "c"],
    );
  });

  it("sorts by any field and gives the chosen fields only", async () => {
    const found = await client.search({ sort: [{ view: "desc" }], _source: ["id"], size: 3 });
    assert.deepEqual(
      found.hits.hits.map(({ _source }) => _source),
      [{ id: "f" }, { id: "b" }, { id: "a" }],
    );
  });

  it("takes the forms of address that scripts use", async () => {
    const get = async (path: string): Promise<[number, unknown]> => {
      const response = await fetch(client.searchUrl + path);
      const text = await response.text();
      return [
        response.status,
        text.startsWith("{") || text.startsWith("[") ? JSON.parse(text) : text,
      ];
    };
    const total = (value: unknown): unknown =>
      (value as { hits: { total: { value: number } } }).hits.total.value;
    for (const name of ["logs-generic-default*", "logs-*", "_all", "*", "x,logs-generic-default"]) {
      const [status, body] = await get(`/${name}/_search?q=view&size=1`);
      assert.deepEqual([status, total(body)], [200, 2], name);
    }
    assert.equal((await get("/other/_search"))[0], 404);
    assert.deepEqual((await get("/_cat/indices"))[1], "green open logs-generic-default 6\n");
    assert.equal((await get("/_cluster/health"))[0], 200);
    assert.equal((await get("/_data_stream/logs-generic-default"))[0], 200);
    const count = await client.searchRaw({ query: { term: { view: 3 } } }, "/_count");
    assert.equal(((await count.json()) as { count: number }).count, 1);
  });

  const wrong: readonly unknown[] = [
    { query: { fuzzy: { a: "b" } } },
    { query: { match: { message: { query: "a", fuzziness: 2 } } } },
    { query: { term: {} } },
    { query: { term: { a: 1, b: 2 } } },
    { query: { term: { 'a"b': 1 } } },
    { query: { range: { "@timestamp": { gte: "yesterday" } } } },
    { query: { query_string: { query: "(a" } } },
    { query: { query_string: { query: "a)" } } },
    { query: { query_string: { query: '"a' } } },
    { query: { query_string: { query: "a AND" } } },
    { query: { query_string: { query: "[1 TO 2]" } } },
    { size: 10_001 },
    { size: -1 },
    { from: 1.5 },
    { knn: {} },
    { aggs: { a: { avg: { field: "b" } } } },
    { aggs: { a: { date_histogram: { field: "@timestamp", fixed_interval: "0s" } } } },
    { aggs: { a: { date_histogram: { field: "@timestamp", fixed_interval: "1ms" } } } },
    { search_after: [{}] },
    { search_after: [1, 2, 3, 4, 5, 6] },
  ];
  for (const body of wrong) {
    it(`refuses ${JSON.stringify(body)} with a reason`, async () => {
      const response = await client.searchRaw(body);
      const answer = (await response.json()) as { error: { reason: string }; status: number };
      assert.deepEqual([response.status, answer.status], [400, 400]);
      assert.ok(answer.error.reason.length > 5);
    });
  }

  it("answers nesting without end and texts of all kinds without falling over", async () => {
    let query: unknown = { match_all: {} };
    for (let depth = 0; depth < 1_000; depth += 1) query = { bool: { must: [query] } };
    assert.equal((await client.searchRaw({ query })).status, 400);
    for (const text of [
      "'; DROP TABLE entries; --",
      '\\"',
      "\u0000",
      "a:b:c",
      "💥",
      "NEAR(a b)",
      "{a}",
    ]) {
      const response = await client.searchRaw({ query: { query_string: { query: text } } });
      assert.ok(response.status === 200 || response.status === 400, text);
    }
    assert.equal(await lettersOf({ match_all: {} }), "abcdef");
  });
});

describe("log search in time", () => {
  it("ends a search that takes too long, and goes on with the next", async () => {
    const client = await LogStackClient.open({ searchTimeMaxMs: 0 });
    try {
      await client.send(Array.from({ length: 2_000 }, (_, index) => logLine({ index })));
      const response = await client.searchRaw({ query: { range: { index: { gte: 5 } } } });
      assert.equal(response.status, 503);
      const answer = await client.searchRaw({ query: { ids: { values: ["1"] } } });
      assert.equal(answer.status, 200);
    } finally {
      await client.close();
    }
  });
});
