/** A registry of images that asks for a user name and a password. */
import { randomBytes } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { IMAGE_ARCHIVE, REGISTRY, RUN } from "./machine.ts";
import { Daemon, inNamespace, run, waitFor } from "./shell.ts";

export type Registry = {
  readonly username: string;
  readonly password: string;
  /** Puts the product's image there under this tag. */
  push(tag: string): void;
  stop(): Promise<void>;
};

export async function startRegistry(): Promise<Registry> {
  const username = "acceptance";
  const password = randomBytes(12).toString("hex");
  const users = path.join(RUN, "registry-users");
  const data = path.join(RUN, "registry");
  mkdirSync(data, { recursive: true });
  writeFileSync(users, run("htpasswd", ["-Bbn", username, password]));
  const config = {
    version: "0.1",
    storage: { filesystem: { rootdirectory: data } },
    http: { addr: REGISTRY },
    auth: { htpasswd: { realm: "quorate", path: users } },
  };
  const file = path.join(RUN, "registry.json");
  writeFileSync(file, JSON.stringify(config));
  const daemon = new Daemon("registry", inNamespace(["docker-registry", "serve", file]), RUN);
  const ask = inNamespace(["curl", "-s", "-o", "/dev/null", "-w", "%{http_code}"]);
  await waitFor("the registry to ask who comes", 30_000, () => {
    daemon.assertRunning();
    const [program = "", ...args] = ask;
    return run(program, [...args, `http://${REGISTRY}/v2/`]) === "401" || undefined;
  });
  return {
    username,
    password,
    push(tag) {
      const [program = "", ...args] = inNamespace(["skopeo", "--insecure-policy", "copy", "-q"]);
      const to = `docker://${REGISTRY}/quorate:${tag}`;
      const flags = ["--dest-tls-verify=false", `--dest-creds=${username}:${password}`];
      run(program, [...args, ...flags, `docker-archive:${IMAGE_ARCHIVE}`, to]);
    },
    stop: () => daemon.stop(),
  };
}
