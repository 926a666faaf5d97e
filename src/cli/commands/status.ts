import type { Command } from "../command.ts";

export const status: Command = {
  name: "status",
  summary: "",
  options: [],
  run: () => Promise.resolve(1),
};
