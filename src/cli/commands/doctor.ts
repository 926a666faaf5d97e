/** `quorate doctor`: checks the prerequisites, and says how to fix what is missing. */
import { usageError, type Command } from "../command.ts";
import { examine, TARGETS, type Target } from "../doctor/examine.ts";
import type { Finding } from "../doctor/finding.ts";
import { parseImageName, type ImageName } from "../doctor/image-check.ts";
import { createProbes } from "../doctor/probes.ts";
import type { RegistryAccess } from "../doctor/registry-check.ts";
import { dataRoot } from "../../local-network/network-paths.ts";
import { programVersion } from "../../node/program-version.ts";
import { paint, type Terminal } from "../terminal.ts";

type Texts = Readonly<Record<string, string | undefined>>;

const SIGNS: Readonly<Record<Finding["verdict"], string>> = {
  good: "ok",
  doubtful: "warn",
  bad: "FAIL",
  unknown: "?",
};
const SIGN_WIDTH = 4;
const DEFAULT_PORT = 8545;
const PASSWORD_VARIABLE = "QUORATE_REGISTRY_PASSWORD";

export const doctor: Command = {
  name: "doctor",
  summary: "check what a network needs, here or on a cluster, and say how to fix what is missing",
  options: [
    { name: "target", value: TARGETS.join("|"), summary: "where the network will run (local)" },
    { name: "data", value: "DIR", summary: "local: where its data will be" },
    { name: "port", value: "PORT", summary: `local: the port of ethrpc (${DEFAULT_PORT})` },
    { name: "namespace", value: "NAME", summary: "clusters: the namespace (default)" },
    { name: "storage-class", value: "NAME", summary: "clusters: standard, on EKS gp2" },
    { name: "registry", value: "HOST", summary: "clusters: where the image comes from" },
    {
      name: "registry-username",
      value: "NAME",
      summary: `its user; password: ${PASSWORD_VARIABLE}`,
    },
    { name: "image", value: "NAME:TAG", summary: "the image there (quorate of this version)" },
    { name: "logs", summary: "clusters: with the log stack of deploy/logging beside the network" },
    { name: "json", summary: "print JSON" },
  ],
  async run({ texts, switches }, { terminal, environment }) {
    const target = targetOf(texts["target"]);
    const findings = await examine(
      {
        target,
        data: dataRoot(texts["data"], environment),
        port: Number(texts["port"] ?? DEFAULT_PORT),
        namespace: texts["namespace"] ?? "default",
        storageClass: texts["storage-class"] ?? (target === "eks" ? "gp2" : "standard"),
        registry: registryOf(texts, environment),
        image: imageOf(texts["image"]),
        hasLogStack: switches.has("logs"),
      },
      createProbes(),
    );
    const isFit = findings.every(({ verdict }) => verdict !== "bad");
    if (switches.has("json")) {
      terminal.result(JSON.stringify({ target, isFit, findings }, undefined, 2));
    } else {
      show(findings, terminal);
      terminal.result(isFit ? `\n${target}: ready` : `\n${target}: not ready, fix what failed`);
    }
    return isFit ? 0 : 1;
  },
};

function targetOf(given: string | undefined): Target {
  const target = TARGETS.find((name) => name === (given ?? "local"));
  if (target !== undefined) return target;
  throw usageError(`--target must be one of ${TARGETS.join(", ")}`, "doctor");
}

function imageOf(given: string | undefined): ImageName {
  const image = parseImageName(given ?? `quorate:${programVersion()}`);
  if (image !== undefined) return image;
  throw usageError("--image must be NAME:TAG, as it stands behind the registry", "doctor");
}

function registryOf(texts: Texts, environment: Texts): RegistryAccess | undefined {
  const { registry } = texts;
  if (registry === undefined) return undefined;
  // Not a flag: every user of the machine can read the flags of a process.
  const password = environment[PASSWORD_VARIABLE];
  return { registry, username: texts["registry-username"], password };
}

function show(findings: readonly Finding[], terminal: Terminal): void {
  const width = Math.max(...findings.map(({ subject }) => subject.length));
  for (const { subject, verdict, found, advice } of findings) {
    const sign = SIGNS[verdict].padEnd(SIGN_WIDTH);
    const colour = verdict === "bad" ? "red" : verdict === "good" ? "bold" : "yellow";
    terminal.result(`${paint(terminal, colour, sign)}  ${subject.padEnd(width)}  ${found}`);
    if (advice !== undefined) terminal.result(`${" ".repeat(SIGN_WIDTH + width + 4)}${advice}`);
  }
}
