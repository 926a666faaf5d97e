/** The chart as real Helm renders it, and what a change of values changes in it. */
import { spawnSync } from "node:child_process";
import path from "node:path";
import { parseAllDocuments } from "yaml";
import { kubernetesTool, type KubernetesTool } from "./processes/kubernetes-tools.ts";

export type Manifest = {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string };
};

export type Helm = Extract<KubernetesTool, "helm-3" | "helm-4">;

export type RenderOptions = {
  readonly helm?: Helm;
  readonly release?: string;
  /** More arguments of `helm template`. */
  readonly args?: readonly string[];
};

export const CHART = path.join(import.meta.dirname, "../../deploy/chart");

export const CREDENTIALS = [
  "global.imageCredentials.registry=registry.example",
  "global.imageCredentials.username=reader",
  "global.imageCredentials.password=sesame",
];

/** `settings` are given by --set. Throws with what helm says. */
export function renderChart(
  settings: readonly string[],
  { helm = "helm-3", release = "demo", args = [] }: RenderOptions = {},
): readonly Manifest[] {
  const { status, stdout, stderr } = runHelm(helm, [
    ...["template", release, CHART, "--namespace", "space"],
    ...settings.flatMap((setting) => ["--set", setting]),
    ...args,
  ]);
  if (status !== 0) throw new Error(stderr);
  // Kubernetes reads YAML 1.1, where 0440 is octal.
  return parseAllDocuments(stdout, { version: "1.1" })
    .map((document) => document.toJS() as unknown)
    .filter((manifest): manifest is Manifest => manifest !== null);
}

/** What helm says after an install. Helm 3 does not show its notes without a cluster. */
export function renderNotes(settings: readonly string[], args: readonly string[] = []): string {
  const { status, stdout, stderr } = runHelm("helm-4", [
    ...["install", "demo", CHART, "--dry-run=client"],
    ...settings.flatMap((setting) => ["--set", setting]),
    ...args,
  ]);
  if (status !== 0) throw new Error(stderr);
  return stdout.slice(stdout.indexOf("NOTES:"));
}

export function runHelm(
  helm: Helm,
  args: readonly string[],
): { readonly status: number | null; readonly stdout: string; readonly stderr: string } {
  return spawnSync(kubernetesTool(helm), [...args], { encoding: "utf8" });
}

export function find(manifests: readonly Manifest[], kind: string, name: string): Manifest {
  const found = manifests.find((one) => one.kind === kind && one.metadata.name === name);
  if (found === undefined) throw new Error(`${kind} ${name} is not rendered`);
  return found;
}

/** Every value by where it stands. Texts that hold JSON are opened, Secrets are decoded. */
export function flatten(manifests: readonly Manifest[]): ReadonlyMap<string, string> {
  const values = new Map<string, string>();
  for (const manifest of manifests) {
    const shown = manifest.kind === "Secret" ? withPlainData(manifest) : manifest;
    collect(shown, `${manifest.kind}/${manifest.metadata.name}`, values);
  }
  return values;
}

/** `place: before -> after`, sorted. Checksums of configurations are left out: they follow. */
export function differences(
  before: readonly Manifest[],
  after: readonly Manifest[],
): readonly string[] {
  const [old, now] = [flatten(before), flatten(after)];
  return [...new Set([...old.keys(), ...now.keys()])]
    .filter((place) => old.get(place) !== now.get(place) && !place.includes("checksum/"))
    .map((place) => `${place}: ${old.get(place) ?? "-"} -> ${now.get(place) ?? "-"}`)
    .sort((a, b) => (a < b ? -1 : 1));
}

function withPlainData(secret: Manifest & { readonly data?: Record<string, string> }): Manifest {
  const plain = Object.entries(secret.data ?? {}).map(([key, value]) => [
    key,
    Buffer.from(value, "base64").toString("utf8"),
  ]);
  return { ...secret, ...(plain.length > 0 && { data: Object.fromEntries(plain) as unknown }) };
}

function collect(value: unknown, place: string, values: Map<string, string>): void {
  const isJson = typeof value === "string" && value.startsWith("{");
  const opened: unknown = isJson ? JSON.parse(value) : value;
  if (typeof opened !== "object" || opened === null) {
    values.set(place, String(opened));
    return;
  }
  for (const [key, item] of Object.entries(opened)) collect(item, `${place}.${key}`, values);
}
