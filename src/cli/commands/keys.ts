import type { Command } from "../command.ts";

export const keys: Command = {
  name: "keys",
  summary: "",
  options: [],
  run: () => Promise.resolve(1),
};
