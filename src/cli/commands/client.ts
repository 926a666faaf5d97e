/** `quorate client`: the client node, with ethrpc in the same process. */
import { runClient } from "../../node/client-program.ts";
import { ALL_CLIENT_SETTINGS, callLimitsOf, rpcLimitsOf } from "../../node/client-settings.ts";
import type { Command } from "../command.ts";
import { loadSettings } from "../../node/load-config.ts";
import { settingOptions } from "../setting-options.ts";
import { noteLoaded } from "../../node/node-process.ts";

export const client: Command = {
  name: "client",
  summary: "run the client node",
  options: [
    { name: "config", value: "FILE", summary: "settings as JSON; flags and environment win" },
    {
      name: "abandon-journal",
      summary: "put a damaged journal aside: what was accepted and is not final may be lost",
    },
    ...settingOptions(ALL_CLIENT_SETTINGS),
  ],
  details: "Every setting can be given as QUORATE_<NAME>, too: --rpc-port is QUORATE_RPC_PORT.",
  async run({ texts, switches }, { environment }) {
    noteLoaded();
    const { config: configFile, ...flags } = texts;
    const settings = loadSettings(ALL_CLIENT_SETTINGS, configFile, { environment, flags });
    return runClient(settings, {
      limits: rpcLimitsOf(settings),
      calls: callLimitsOf(settings),
      abandonsJournal: switches.has("abandon-journal"),
      configFile,
    });
  },
};
