import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { problemText } from "../../../src/config/config-problem.ts";
import { CLIENT_SETTINGS, createLimitSettings } from "../../../src/config/node-settings.ts";
import {
  flagOf,
  resolveSettings,
  variableOf,
  type SettingInputs,
} from "../../../src/config/resolve-settings.ts";
import {
  booleanSetting,
  choiceSetting,
  integerSetting,
  listSetting,
  optional,
  pathSetting,
  textSetting,
} from "../../../src/config/setting.ts";

const TABLE = {
  data: pathSetting({ summary: "" }),
  "rpc.port": integerSetting({ summary: "", fallback: 1, min: 0, max: 9 }),
  "log.level": choiceSetting({ summary: "", choices: ["info", "warn"], fallback: "info" }),
  "rpc.allowedHosts": listSetting({ summary: "", fallback: [] }),
  isOpen: booleanSetting({ summary: "", fallback: false }),
  name: optional(textSetting({ summary: "" })),
} as const;

function inputs(more: Partial<SettingInputs>): SettingInputs {
  return {
    fileText: undefined,
    environment: {},
    flags: {},
    resolvePath: (path, source) => `${source}:${path}`,
    ...more,
  };
}

function problemsOf(more: Partial<SettingInputs>): readonly string[] {
  const resolved = resolveSettings(TABLE, inputs(more));
  return resolved.ok ? [] : resolved.error.map(problemText);
}

describe("settings", () => {
  it("flags win over the environment, that over the file, that over the defaults", () => {
    const fileText = '{"data": "f", "rpc": {"port": 2}, "log": {"level": "warn"}}';
    const environment = { QUORATE_DATA: "e", QUORATE_RPC_PORT: "3", OTHER: "x" };
    const flags = { "rpc-port": "4" };
    const resolved = resolveSettings(TABLE, inputs({ fileText, environment, flags }));
    assert.ok(resolved.ok);
    assert.deepEqual(resolved.value, {
      data: "environment:e",
      "rpc.port": 4,
      "log.level": "warn",
      "rpc.allowedHosts": [],
      isOpen: false,
      name: undefined,
    });
  });

  it("an empty variable is as good as none", () => {
    const environment = { QUORATE_DATA: "e", QUORATE_RPC_PORT: "" };
    const resolved = resolveSettings(TABLE, inputs({ environment }));
    assert.ok(resolved.ok && resolved.value["rpc.port"] === 1);
  });

  it("lists are arrays in a file and texts with commas elsewhere", () => {
    const flags = { data: "d", "rpc-allowed-hosts": "a, b" };
    const given = resolveSettings(TABLE, inputs({ flags }));
    assert.deepEqual(given.ok && given.value["rpc.allowedHosts"], ["a", "b"]);
    const fileText = '{"data": "d", "rpc": {"allowedHosts": ["c"]}}';
    const inFile = resolveSettings(TABLE, inputs({ fileText }));
    assert.deepEqual(inFile.ok && inFile.value["rpc.allowedHosts"], ["c"]);
  });

  it("names come from the setting: dots and capitals become words", () => {
    assert.equal(flagOf("rpc.bodyBytesMax"), "rpc-body-bytes-max");
    assert.equal(variableOf("rpc.bodyBytesMax"), "QUORATE_RPC_BODY_BYTES_MAX");
  });

  it("reports every problem at once, each where it was given", () => {
    const fileText = '{"rpc": {"port": "many", "portt": 1}, "isOpen": 1}';
    const environment = { QUORATE_LOG_LEVEL: "loud" };
    assert.deepEqual(problemsOf({ fileText, environment, flags: { name: "" } }), [
      "data is missing (give it by --data, QUORATE_DATA or in the file)",
      "rpc.port must be a whole number from 0 to 9",
      "QUORATE_LOG_LEVEL must be one of info, warn",
      "isOpen must be true or false",
      "--name must be a text of 1 to 4096 characters",
      "rpc.portt is not known",
    ]);
  });

  for (const text of ["", "{", "[]", "null", '"text"']) {
    it(`a file that is ${text === "" ? "empty" : text} is one problem, not an exception`, () => {
      const [problem] = problemsOf({ fileText: text, flags: { data: "d" } });
      assert.match(problem ?? "", /^it is not (JSON|a JSON record)$/);
    });
  }

  it("numbers outside the range, fractions and other forms of numbers are refused", () => {
    for (const port of ["-1", "10", "1.5", "0x1", "1e0", " 1", "01", "NaN"]) {
      assert.equal(problemsOf({ flags: { data: "d", "rpc-port": port } }).length, 1, port);
    }
  });

  it("every limit of ethrpc becomes a setting with its own default", () => {
    const limits = createLimitSettings("rpc", "a limit", { bodyBytesMax: 5, gasMax: 7n });
    const table = { ...CLIENT_SETTINGS, ...limits };
    const flags = { network: "n", key: "k", data: "d", "rpc-gas-max": "123456789012345678901" };
    const resolved = resolveSettings(table, inputs({ flags }));
    assert.ok(resolved.ok, resolved.ok ? "" : resolved.error.map(problemText).join());
    const values: Readonly<Record<string, unknown>> = resolved.value;
    assert.equal(values["rpc.bodyBytesMax"], 5);
    assert.equal(values["rpc.gasMax"], 123456789012345678901n);
  });

  it("a limit is positive, unless it is off by default, and a time is one that timers know", () => {
    const limits = createLimitSettings("calls", "a limit", { countMax: 5, rateMax: 0, waitMs: 7 });
    const tell = (flags: Readonly<Record<string, string>>): boolean =>
      resolveSettings(limits, inputs({ flags })).ok;
    assert.equal(tell({}), true);
    assert.equal(tell({ "calls-count-max": "0" }), false);
    assert.equal(tell({ "calls-rate-max": "0" }), true);
    assert.equal(tell({ "calls-wait-ms": "2147483647" }), true);
    assert.equal(tell({ "calls-wait-ms": "2147483648" }), false);
    assert.equal(tell({ "calls-count-max": "2147483648" }), true);
  });
});
