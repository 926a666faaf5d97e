/** `quorate replica`: one replica as a process. */
import { REPLICA_SETTINGS } from "../../config/node-settings.ts";
import type { StartMode } from "../../replica/replica-options.ts";
import { usageError, type Command } from "../command.ts";
import { loadSettings } from "../../node/load-config.ts";
import { settingOptions } from "../setting-options.ts";
import { noteLoaded } from "../../node/node-process.ts";
import { runReplica } from "../../node/replica-program.ts";

export const replica: Command = {
  name: "replica",
  summary: "run one replica",
  options: [
    { name: "config", value: "FILE", summary: "settings as JSON; flags and environment win" },
    {
      name: "bootstrap",
      summary: "this replica never ran before (its first start, by the installer)",
    },
    { name: "found", summary: "the former name of --bootstrap" },
    { name: "rejoin", summary: "put a damaged log aside for good and be let in again" },
    ...settingOptions(REPLICA_SETTINGS),
  ],
  details: "Every setting can be given as QUORATE_<NAME>, too: --log-level is QUORATE_LOG_LEVEL.",
  async run({ texts, switches }, { environment }) {
    if (isBootstrap(switches) && switches.has("rejoin")) {
      throw usageError("--bootstrap and --rejoin exclude each other", "replica");
    }
    noteLoaded();
    const { config: configFile, ...flags } = texts;
    const config = loadSettings(REPLICA_SETTINGS, configFile, { environment, flags });
    return runReplica(config, startModeOf(switches), configFile);
  },
};

function startModeOf(switches: ReadonlySet<string>): StartMode {
  if (isBootstrap(switches)) return "bootstrap";
  return switches.has("rejoin") ? "rejoin" : "resume";
}

function isBootstrap(switches: ReadonlySet<string>): boolean {
  return switches.has("bootstrap") || switches.has("found");
}
