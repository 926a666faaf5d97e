import type { Command } from "../command.ts";
import { programVersion } from "../../node/program-version.ts";

export const version: Command = {
  name: "version",
  summary: "show the version",
  options: [{ name: "json", summary: "as JSON" }],
  run({ switches }, { terminal }) {
    const { version: node } = process;
    const value = { version: programVersion(), node, platform: process.platform };
    const text = `quorate ${value.version} (Node.js ${node}, ${process.platform}-${process.arch})`;
    terminal.result(switches.has("json") ? JSON.stringify(value) : text);
    return Promise.resolve(0);
  },
};
