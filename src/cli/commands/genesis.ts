import type { Command } from "../command.ts";

export const genesis: Command = {
  name: "genesis",
  summary: "",
  options: [],
  run: () => Promise.resolve(1),
};
