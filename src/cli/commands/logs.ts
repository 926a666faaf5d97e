import type { Command } from "../command.ts";

export const logs: Command = {
  name: "logs",
  summary: "",
  options: [],
  run: () => Promise.resolve(1),
};
