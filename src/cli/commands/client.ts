/** `quorate client`: the client node, with ethrpc in the same process. */
import { CLIENT_SETTINGS, createLimitSettings } from "../../config/node-settings.ts";
import { DEFAULT_RPC_LIMITS } from "../../rpc/rpc-options.ts";
import { runClient } from "../client-program.ts";
import type { Command } from "../command.ts";
import { loadSettings, settingOptions } from "../load-config.ts";
import { noteLoaded } from "../node-process.ts";

const LIMIT_SETTINGS = createLimitSettings(DEFAULT_RPC_LIMITS);
const SETTINGS = { ...CLIENT_SETTINGS, ...LIMIT_SETTINGS };

export const client: Command = {
  name: "client",
  summary: "run the client node",
  options: [
    { name: "config", value: "FILE", summary: "settings as JSON; flags and environment win" },
    {
      name: "abandon-journal",
      summary: "put a damaged journal aside: what was accepted and is not final may be lost",
    },
    ...settingOptions(SETTINGS),
  ],
  details: "Every setting can be given as QUORATE_<NAME>, too: --rpc-port is QUORATE_RPC_PORT.",
  async run({ texts, switches }, { environment }) {
    noteLoaded();
    const { config: configFile, ...flags } = texts;
    const settings = loadSettings(SETTINGS, configFile, { environment, flags });
    const values: Readonly<Record<string, unknown>> = settings;
    const limits = Object.fromEntries(
      Object.keys(DEFAULT_RPC_LIMITS).map((name) => [name, values[`rpc.${name}`]]),
    );
    return runClient(settings, {
      limits: { ...DEFAULT_RPC_LIMITS, ...limits },
      abandonsJournal: switches.has("abandon-journal"),
      configFile,
    });
  },
};
