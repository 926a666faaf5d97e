/** `quorate up`: the whole network on this machine. */
import { paint, type Terminal } from "../terminal.ts";
import type { Command } from "../command.ts";
import { detach, DETACHED_VARIABLE, reportToStarter } from "../detach.ts";
import { errorText } from "../../node/error-line.ts";
import { READY_LINE } from "../../node/ready-line.ts";
import { runNetwork, type UpReporter } from "../../local-network/run-network.ts";
import { createStopSignal } from "../../node/stop-signal.ts";
import type { UpOptions } from "../../local-network/up-options.ts";
import { parseUpOptions, UP_OPTIONS } from "../up-arguments.ts";
import { summaryLines } from "../up-summary-text.ts";

export const up: Command = {
  name: "up",
  summary: "start a network of four replicas and a client node on this machine",
  options: UP_OPTIONS,
  details: "The first start makes keys and genesis. Ctrl-C stops the network; its data stay.",
  async run(given, { terminal, environment }) {
    const options = parseUpOptions(given, environment);
    if (options.isDetached) return detach(given, options, terminal);
    const stop = createStopSignal();
    if (environment[DETACHED_VARIABLE] === undefined) {
      await runNetwork(options, terminalReporter(options, terminal), stop);
      return 0;
    }
    const starter = reportToStarter();
    try {
      await runNetwork(options, starter, stop);
      return 0;
    } catch (error) {
      starter.failed(errorText(error));
      return 1;
    }
  },
};

export function terminalReporter({ isJson }: UpOptions, terminal: Terminal): UpReporter {
  return {
    note: (line) => terminal.note(paint(terminal, "dim", line)),
    ready: (summary, file) => {
      if (isJson) {
        terminal.result(JSON.stringify({ ...summary, message: READY_LINE }));
        return;
      }
      for (const line of summaryLines(summary, file, terminal)) terminal.result(line);
      const seconds = (summary.readyMs / 1000).toFixed(1);
      terminal.note(paint(terminal, "dim", `ready after ${seconds} s; Ctrl-C stops the network`));
      terminal.result(READY_LINE);
    },
  };
}
