/**
 * Runs the command blocks of a document by a shell, with stand-ins for the programs that need a
 * cluster, a registry or a machine that is not here. helm renders the chart for real, kubectl and
 * quorate read their own flags for real, curl asks a real server; the others answer for themselves
 * and let nothing pass that they do not know.
 */
import { execFile } from "node:child_process";
import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import path from "node:path";
import { promisify } from "node:util";
import { DRY_HELM } from "./dry-helm.ts";
import { DRY_QUORATE } from "./dry-quorate.ts";
import { kubernetesTool } from "../processes/kubernetes-tools.ts";

const ROOT = path.join(import.meta.dirname, "../../..");
const TIMEOUT_MS = 120_000;
const NODE = process.execPath;

export type CommandBlock = { readonly line: number; readonly text: string };

/** Every block that is marked `sh`, with the line that it begins at. */
export function commandBlocks(text: string): readonly CommandBlock[] {
  return [...text.matchAll(/^```sh\n([\s\S]*?)^```$/gm)].map((match) => ({
    line: text.slice(0, match.index).split("\n").length + 1,
    text: match[1] ?? "",
  }));
}

/** `<name>` in a block stands for something of the reader's. One that is not known is a mistake. */
export function fillIn(text: string, names: Readonly<Record<string, string>>): string {
  return text.replaceAll(/<([A-Za-z_ ]+)>/g, (whole, name: string) => {
    const value = names[name];
    if (value === undefined) throw new Error(`the test does not know what ${whole} stands for`);
    return value;
  });
}

/** Programs that are not here, by the first words of what they may be asked. */
const KNOWN: Readonly<Record<string, readonly string[]>> = {
  minikube: [
    "start --driver=(docker|virtualbox|hyperkit) --cpus=[0-9]+ --memory=[0-9]+",
    "image (build -f deploy/image/Dockerfile -t \\S+ \\.|load \\S+|ls)",
    "service (list|client-0-ethrpc --url)",
  ],
  docker: [
    "build -f deploy/image/Dockerfile -t \\S+ \\.",
    "buildx build --platform \\S+ -f deploy/image/Dockerfile -t \\S+ --push \\.",
    "login \\S+ --username \\S+( --password-stdin)?",
    "push \\S+",
  ],
  aws: [
    "eks update-kubeconfig --name \\S+ --region \\S+",
    "ecr create-repository --repository-name \\S+ --region \\S+",
    "ecr get-login-password --region \\S+",
  ],
  eksctl: ["create addon --name \\S+ --cluster \\S+ --service-account-role-arn \\S+"],
  geth: ["attach .*"],
};

/** A folder with all programs that the blocks name. */
export function makeTools(folder: string): void {
  mkdirSync(folder, { recursive: true });
  const script = (name: string, lines: readonly string[]): void => {
    const file = path.join(folder, name);
    writeFileSync(file, ["#!/bin/sh", ...lines, ""].join("\n"));
    chmodSync(file, 0o755);
  };
  for (const [name, patterns] of Object.entries(KNOWN)) {
    const test = patterns.map((pattern) => `-e '^${pattern}$'`).join(" ");
    script(name, [
      `echo "$*" | grep -Eq ${test} || { echo "${name} $*: not known" >&2; exit 2; }`,
      // What is given to a password on standard input is read to its end.
      'case "$*" in *-stdin) cat >/dev/null ;; esac',
    ]);
  }
  // Flags are read before the help is shown, so a flag that does not exist is an error.
  script("kubectl", [
    `${kubernetesTool("kubectl")} "$@" --help >/dev/null || exit`,
    'case "$*" in',
    "  logs*) echo 'client_id=8 is serving - the pool is ready' ;;",
    "  *jsonpath*key*) echo 'MHgxMQ==' ;;",
    "esac",
  ]);
  script("helm", [`exec ${NODE} --no-warnings ${DRY_HELM} "$@"`]);
  script("quorate", [`exec ${NODE} --no-warnings ${DRY_QUORATE} "$@"`]);
  symlinkSync(NODE, path.join(folder, "node"));
}

/** What the shell printed. Throws with what it complained about. */
export async function runBlock(
  text: string,
  { folder, tools }: { readonly folder: string; readonly tools: string },
): Promise<string> {
  const env = {
    ...process.env,
    PATH: `${tools}:${process.env["PATH"] ?? ""}`,
    KUBECONFIG: "/dev/null",
    NO_COLOR: "1",
    QUORATE_ROOT: ROOT,
  };
  const options = { cwd: folder, env, timeout: TIMEOUT_MS };
  const { stdout } = await promisify(execFile)("sh", ["-euc", text], options);
  return stdout;
}
