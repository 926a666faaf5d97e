import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { LINE_LENGTH_MAX, processRequest } from "../../../src/log-stack/log-pipeline.ts";
import { parseLogtime } from "../../../src/log-stack/logtime.ts";
import { originalFilters, restatePipeline } from "../../support/logstash-restatement.ts";

const NOW_MS = Date.UTC(2026, 0, 2, 3, 4, 5, 6);

describe("logtime", () => {
  const cases: readonly (readonly [string, string | undefined])[] = [
    ["2022-12-02T00:01:00,123,+0000", "2022-12-02T00:01:00.123Z"],
    ["2022-12-02T00:01:00,123,+0230", "2022-12-01T21:31:00.123Z"],
    ["2022-12-02T00:01:00,123,-11:00", "2022-12-02T11:01:00.123Z"],
    ["2022-12-02T00:01:00,123,+09", "2022-12-01T15:01:00.123Z"],
    ["2022-12-02 00:01:00,123", "2022-12-02T00:01:00.123Z"],
    ["2022-2-3 4:5:6,7", "2022-02-03T04:05:06.700Z"],
    ["2024-02-29 00:00:00,000", "2024-02-29T00:00:00.000Z"],
    ["0099-01-01 00:00:00,000", "0099-01-01T00:00:00.000Z"],
    ["2023-02-29 00:00:00,000", undefined],
    ["2022-12-02T00:01:00,123", undefined],
    ["2022-12-02 00:01:00,123,+0000", undefined],
    ["2022-12-02T00:01:00,123,Z", undefined],
    ["2022-12-02T00:01:00.123Z", undefined],
    ["2022-13-02 00:01:00,123", undefined],
    ["2022-12-02 24:00:00,000", undefined],
    ["2022-12-02 00:60:00,000", undefined],
    ["2022-12-02 00:00:60,000", undefined],
    ["2022-12-02 00:00:00,0000", undefined],
    ["2022-12-02T00:01:00,123,+2400", undefined],
    ["123456789-01-01 00:00:00,000", undefined],
    ["", undefined],
    [" 2022-12-02 00:01:00,123", undefined],
  ];
  for (const [text, expected] of cases) {
    it(`reads ${JSON.stringify(text)} as ${expected ?? "no time"}`, () => {
      const timeMs = parseLogtime(text);
      assert.equal(timeMs === undefined ? undefined : new Date(timeMs).toISOString(), expected);
    });
  }
});

describe("log pipeline", () => {
  it("makes a document of a line: fields, time, and nothing of the request", () => {
    const line =
      '{"blockchain_id":"b","service_name":"replica-0","logtime":"2022-12-02 00:01:00,005",' +
      '"message":"block final","sequence":7,"host":"inner"}';
    assert.deepEqual(only(line), {
      "@timestamp": "2022-12-02T00:01:00.005Z",
      "@version": "1",
      blockchain_id: "b",
      service_name: "replica-0",
      message: "block final",
      sequence: 7,
      data_stream: { type: "logs", dataset: "generic", namespace: "default" },
    });
  });

  it("keeps a line that is no JSON object, with a tag", () => {
    for (const line of ["plain text", '{"cut":', "[1,2]", '"text"', "7", "null"]) {
      const document = only(line);
      assert.equal(document["message"], line, line);
      assert.deepEqual(document["tags"], ["_jsonparsefailure"], line);
      assert.equal(document["@timestamp"], new Date(NOW_MS).toISOString(), line);
    }
  });

  it("keeps an entry whose logtime is wrong, at the time of arrival, with a tag", () => {
    for (const logtime of ["yesterday", 1669939260000, null, { a: 1 }]) {
      const document = only(JSON.stringify({ message: "m", logtime }));
      assert.deepEqual(document["tags"], ["_dateparsefailure"], JSON.stringify(logtime));
      assert.equal(document["@timestamp"], new Date(NOW_MS).toISOString());
      assert.ok(!("logtime" in document));
    }
  });

  it("takes an entry without logtime at the time of arrival and without a tag", () => {
    const document = only('{"message":"m"}');
    assert.equal(document["@timestamp"], new Date(NOW_MS).toISOString());
    assert.equal(document["tags"], undefined);
  });

  it("adds its tags to those an entry has", () => {
    assert.deepEqual(only('{"tags":["mine"],"logtime":"?"}')["tags"], [
      "mine",
      "_dateparsefailure",
    ]);
    assert.deepEqual(only('{"tags":"mine","logtime":"?"}')["tags"], ["mine", "_dateparsefailure"]);
  });

  it("takes an entry's own @timestamp where it is one, else says so", () => {
    const good = only('{"@timestamp":"2022-12-02T00:01:00.005Z","message":"m"}');
    assert.equal(good["@timestamp"], "2022-12-02T00:01:00.005Z");
    const bad = only('{"@timestamp":"noon","message":"m"}');
    assert.deepEqual([bad["tags"], bad["_@timestamp"]], [["_timestampparsefailure"], "noon"]);
  });

  it("keeps the raw line as message where an entry has none of its own", () => {
    assert.equal(only('{"a":1}')["message"], '{"a":1}');
  });

  it("skips empty lines and needs no last line end", () => {
    const documents = processLines('\n\n{"message":"a"}\n\n{"message":"b"}');
    assert.deepEqual(
      documents.map(({ message }) => message),
      ["a", "b"],
    );
    assert.deepEqual(processLines(""), []);
  });

  it("reads a JSON body as the fields of one event or of several", () => {
    const process = (body: string): unknown[] =>
      processRequest(
        { body, contentType: "application/json; charset=utf-8", host: "h", headers: {} },
        NOW_MS,
      ).map(({ fields }) => [fields["message"], fields["tags"], fields["x"]]);
    assert.deepEqual(process('{"message":"{\\"x\\":1}"}'), [['{"x":1}', undefined, 1]]);
    assert.deepEqual(process('[{"message":"{\\"x\\":1}"},{"message":"{\\"x\\":2}"}]').length, 2);
    assert.deepEqual(process('{"x":3}'), [[undefined, ["_split_type_failure"], 3]]);
    assert.deepEqual(process("{"), [["{", ["_jsonparsefailure", "_jsonparsefailure"], undefined]]);
  });

  it("keeps a field named __proto__ as a field", () => {
    const document = only('{"__proto__":{"polluted":1},"message":"m"}');
    assert.equal(Object.getPrototypeOf(document), Object.prototype);
    assert.ok(Object.hasOwn(document, "__proto__"));
    assert.equal(document["polluted"], undefined);
  });

  it("cuts a line that is too long and keeps one that is too deep or too wide, with tags", () => {
    const long = only("x".repeat(LINE_LENGTH_MAX + 1));
    assert.equal(String(long["message"]).length, LINE_LENGTH_MAX);
    assert.deepEqual(long["tags"], ["_lengthexceeded", "_jsonparsefailure"]);
    const deep = `{"a":${"[".repeat(10_000)}${"]".repeat(10_000)}}`;
    assert.deepEqual(only(deep)["tags"], ["_fieldlimitexceeded"]);
    assert.equal(only(deep)["message"], deep);
    const wide = JSON.stringify(
      Object.fromEntries(Array.from({ length: 1_001 }, (_, i) => [i, i])),
    );
    assert.deepEqual(only(wide)["tags"], ["_fieldlimitexceeded"]);
  });

  it("does with any lines what the original configuration does", () => {
    const number = (min: number, max: number): fc.Arbitrary<string> =>
      fc.integer({ min, max }).map(String);
    const padded = fc.boolean();
    const filters = originalFilters();
    const logtime = fc
      .tuple(
        fc.tuple(number(1, 2100), number(0, 14), number(0, 33)),
        fc.tuple(number(0, 25), number(0, 61), number(0, 61), number(0, 1200)),
        fc.constantFrom("T", " "),
        fc.constantFrom("", ",+0000", ",-0330", ",+05:30", ",Z", ",+25", ",+7"),
        padded,
      )
      .map(([date, time, gap, zone, isPadded]) => {
        const [year, ...days] = date.map((part) => (isPadded ? part.padStart(2, "0") : part));
        const [h, m, s, ms] = time.map((part) => (isPadded ? part.padStart(2, "0") : part));
        return `${[year, ...days].join("-")}${gap}${h}:${m}:${s},${ms}${zone}`;
      });
    const entry = fc.record(
      {
        message: fc.string(),
        logtime: fc.oneof(logtime, fc.string(), fc.integer()),
        host: fc.string(),
        headers: fc.constant({ x: 1 }),
        service_name: fc.constantFrom("replica-0", "client-0-ethrpc"),
        tags: fc.array(fc.string(), { maxLength: 2 }),
        sequence: fc.nat(),
      },
      { requiredKeys: [] },
    );
    const line = fc.oneof(
      entry.map((value) => JSON.stringify(value)),
      fc.string(),
      fc.json(),
    );
    fc.assert(
      fc.property(fc.array(line, { maxLength: 20 }), (lines) => {
        const body = lines.join("\n");
        const ours = processLines(body).map(comparable);
        const stated = restatePipeline(filters, body, NOW_MS).map(comparable);
        assert.deepEqual(ours, stated);
      }),
      { numRuns: 500 },
    );
  });
});

/** The store's own additions are not the pipeline's. */
function comparable(document: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const added = ["@version", "data_stream"];
  return Object.fromEntries(Object.entries(document).filter(([name]) => !added.includes(name)));
}

function processLines(body: string): Record<string, unknown>[] {
  const request = { body, contentType: "application/x-ndjson", host: "h", headers: { a: "b" } };
  return processRequest(request, NOW_MS).map(({ fields }) => ({ ...fields }));
}

function only(line: string): Record<string, unknown> {
  const [document, ...others] = processLines(line);
  assert.ok(document !== undefined);
  assert.equal(others.length, 0);
  return document;
}
