/** `quorate log-stack`: input, store, read endpoint and viewer of logs (what `up --logs` starts). */
import { LOG_STACK_SETTINGS, retentionOf } from "../../config/log-settings.ts";
import { createLoggers } from "../../logging/create-logger.ts";
import { logFormatOf, LogWriter } from "../../logging/log-writer.ts";
import { LogStack } from "../../log-stack/log-stack.ts";
import type { Command } from "../command.ts";
import { loadSettings } from "../../node/load-config.ts";
import { settingOptions } from "../setting-options.ts";
import { runNode } from "../../node/node-process.ts";

export const logStack: Command = {
  name: "log-stack",
  summary: "run the embedded log stack",
  options: [
    { name: "config", value: "FILE", summary: "settings as JSON; flags and environment win" },
    ...settingOptions(LOG_STACK_SETTINGS),
  ],
  details:
    "Nodes send to it with --log-endpoint_1-url http://127.0.0.1:8080. The viewer is at\n" +
    "http://localhost:5601/app/discover. docs/observability.md says what the read endpoint takes.",
  async run({ texts }, { environment }) {
    const { config: configFile, ...flags } = texts;
    const config = loadSettings(LOG_STACK_SETTINGS, configFile, { environment, flags });
    const isTerminal = process.stdout.isTTY;
    const writer = new LogWriter(logFormatOf("auto", isTerminal), isTerminal);
    const origin = { blockchainId: "", serviceName: "log-stack", nodeId: "log-stack" };
    const loggers = createLoggers({ level: "info", origin }, { writer });
    const username = config["input.username"];
    const password = config["input.password"];
    return runNode({
      logger: loggers("process"),
      flush: () => writer.flush(),
      open: () =>
        LogStack.open(
          {
            dataPath: config.data,
            host: config.host,
            hostNames: config.hostNames,
            inputPort: config["input.port"],
            searchPort: config["search.port"],
            viewerPort: config["viewer.port"],
            ...retentionOf(config),
            ...(username === undefined ? {} : { username }),
            ...(password === undefined ? {} : { password }),
          },
          loggers("log-stack"),
        ),
    });
  },
};
