/** Foundry's Anvil as a process, set to the rules of our network, to compare with. */
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import path from "node:path";
import { waitFor } from "./network-process.ts";

const ROOT = path.join(import.meta.dirname, "../../..");
const START_TIMEOUT_MS = 30_000;

export type RunningAnvil = {
  readonly url: string;
  readonly process: ChildProcess;
  stop(): Promise<void>;
};

/** Undefined on systems for which it is not installed. */
export function anvilProgram(): string | undefined {
  // The program itself: the script in .bin would be a process of its own between us and it.
  const program = path.join(
    ROOT,
    "node_modules/@foundry-rs",
    `anvil-${process.platform}-${process.arch === "x64" ? "amd64" : process.arch}`,
    "bin/anvil",
  );
  return existsSync(program) ? program : undefined;
}

/** Gas is free, as it is on our network, and nothing is there that we do not have. */
export async function startAnvil(
  program: string,
  { chainId, gasLimit }: { readonly chainId: bigint; readonly gasLimit: bigint },
): Promise<RunningAnvil> {
  const child = spawn(
    program,
    [
      ...["--port", "0", "--chain-id", chainId.toString(), "--hardfork", "prague"],
      ...["--gas-price", "0", "--block-base-fee-per-gas", "0", "--disable-min-priority-fee"],
      ...["--gas-limit", gasLimit.toString(), "--disable-default-create2-deployer"],
      ...["--steps-tracing", "--preserve-historical-states"],
    ],
    { stdio: ["ignore", "pipe", "inherit"] },
  );
  const ended = once(child, "close");
  let output = "";
  const listening = /Listening on ([0-9.]+:[0-9]+)/;
  child.stdout.on("data", (text: Buffer) => {
    if (!listening.test(output)) output += text.toString();
  });
  await waitFor(() => listening.test(output), "Anvil listens", START_TIMEOUT_MS);
  return {
    url: `http://${listening.exec(output)?.[1] ?? ""}`,
    process: child,
    async stop() {
      child.kill("SIGTERM");
      await ended;
    },
  };
}
