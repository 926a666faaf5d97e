import type { Command } from "../command.ts";

export const down: Command = {
  name: "down",
  summary: "",
  options: [],
  run: () => Promise.resolve(1),
};
