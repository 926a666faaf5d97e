import assert from "node:assert/strict";
import { describe, it } from "node:test";
import {
  ALL_CLIENT_SETTINGS,
  callLimitsOf,
  rpcLimitsOf,
} from "../../../src/node/client-settings.ts";
import { DEFAULT_CALL_LIMITS } from "../../../src/client/client-options.ts";
import { resolveSettings, type SettingInputs } from "../../../src/config/resolve-settings.ts";
import type { SettingValues } from "../../../src/config/setting.ts";
import { DEFAULT_RPC_LIMITS } from "../../../src/rpc/rpc-options.ts";

type Given = Partial<Pick<SettingInputs, "environment" | "flags">> & { readonly file?: object };

function settingsOf({
  file,
  environment = {},
  flags = {},
}: Given): SettingValues<typeof ALL_CLIENT_SETTINGS> {
  const resolved = resolveSettings(ALL_CLIENT_SETTINGS, {
    fileText: JSON.stringify({ network: "n", key: "k", data: "d", ...file }),
    environment,
    flags,
    resolvePath: (text) => text,
  });
  assert.ok(resolved.ok);
  return resolved.value;
}

describe("the limits of a client node", () => {
  it("are the built-in ones where nothing is set", () => {
    assert.deepEqual(callLimitsOf(settingsOf({})), DEFAULT_CALL_LIMITS);
    assert.deepEqual(rpcLimitsOf(settingsOf({})), DEFAULT_RPC_LIMITS);
  });

  it("of calls come from the file, the environment and flags like any other setting", () => {
    const settings = settingsOf({
      file: { calls: { gasMax: 1_000_000, timeMaxMs: 100 } },
      environment: { QUORATE_CALLS_TIME_MAX_MS: "200", QUORATE_CALLS_WAITING_MAX: "3" },
      flags: { "calls-waiting-max": "4" },
    });
    const set = { gasMax: 1_000_000n, timeMaxMs: 200, waitingMax: 4 };
    assert.deepEqual(callLimitsOf(settings), { ...DEFAULT_CALL_LIMITS, ...set });
    assert.deepEqual(rpcLimitsOf(settings), DEFAULT_RPC_LIMITS, "sections do not mix");
  });

  it("of ethrpc do likewise", () => {
    const settings = settingsOf({ file: { rpc: { clientRateMax: 20 } } });
    assert.deepEqual(rpcLimitsOf(settings), { ...DEFAULT_RPC_LIMITS, clientRateMax: 20 });
  });
});
