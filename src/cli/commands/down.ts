/** `quorate down`: stops the network of a directory, wherever its supervisor was started. */
import { existsSync } from "node:fs";
import { CodedError } from "../../base/coded-error.ts";
import { DataDirectory } from "../../storage/data-directory.ts";
import type { Command } from "../command.ts";
import { awaitRelease } from "../../local-network/local-network.ts";
import { dataRoot, networkPaths } from "../../local-network/network-paths.ts";
import { shownPath } from "../../node/shown-path.ts";

const STOP_TIMEOUT_MS = 30_000;
const POLL_MS = 50;

export const down: Command = {
  name: "down",
  summary: "stop the network",
  options: [
    { name: "data", value: "DIR", summary: "where the network lives (./.quorate)" },
    { name: "force", summary: "end the supervisor at once; the nodes then stop by themselves" },
    { name: "json", summary: "as JSON" },
  ],
  async run({ texts, switches }, { terminal, environment }) {
    const root = dataRoot(texts["data"], environment);
    const report = (wasRunning: boolean, text: string): number => {
      const value = { data: root, wasRunning };
      terminal.result(switches.has("json") ? JSON.stringify(value) : text);
      return 0;
    };
    const pid = holderOf(root);
    if (pid === undefined) return report(false, `nothing runs on ${shownPath(root)}`);
    process.kill(pid, switches.has("force") ? "SIGKILL" : "SIGTERM");
    const deadlineMs = performance.now() + STOP_TIMEOUT_MS;
    while (holderOf(root) !== undefined) {
      if (performance.now() > deadlineMs) throw new CodedError("STOP_TOO_SLOW", { pid });
      await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    }
    if (existsSync(root)) await awaitRelease(networkPaths(root), () => undefined);
    return report(true, `the network on ${shownPath(root)} has stopped`);
  },
};

/** The process that has locked the directory. A temporary one goes with its network. */
function holderOf(root: string): number | undefined {
  if (!existsSync(root)) return undefined;
  try {
    DataDirectory.open(root, { allowsNetworkFileSystem: true }).close();
    return undefined;
  } catch (error) {
    const isHeld = error instanceof CodedError && error.code === "DATA_DIRECTORY_IN_USE";
    const pid = isHeld ? error.data["pid"] : undefined;
    if (typeof pid !== "number" || !Number.isInteger(pid)) throw error;
    return pid;
  }
}
