import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { describe, it } from "node:test";
import {
  createKubernetesSecrets,
  loadClusterAccess,
} from "../../../../src/cli/cluster-init/kubernetes-secrets.ts";
import type { SecretStore } from "../../../../src/cli/cluster-init/secret-store.ts";
import { createTlsIdentity } from "../../../../src/crypto/certificate.ts";

type Asked = { readonly method: string; readonly url: string; readonly body: string };
type Reply = { readonly status: number; readonly body?: unknown };

const identity = createTlsIdentity(new Uint8Array(32).fill(7), "localhost");

/** A real API server's door: TLS, a token, and replies one after the other. */
async function withServer(
  replies: readonly Reply[],
  work: (secrets: SecretStore, asked: readonly Asked[]) => Promise<void>,
): Promise<void> {
  const asked: Asked[] = [];
  const options = { cert: identity.certificatePem, key: identity.privateKeyPem };
  const server = createServer(options, (request, response) => {
    let body = "";
    request.on("data", (part: Buffer) => (body += part.toString()));
    request.on("end", () => {
      assert.equal(request.headers.authorization, "Bearer token-of-the-pod");
      asked.push({ method: request.method ?? "", url: request.url ?? "", body });
      const reply = replies[asked.length - 1] ?? { status: 500 };
      response.writeHead(reply.status).end(JSON.stringify(reply.body ?? {}));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "localhost", resolve));
  const folder = mkdtempSync(path.join(tmpdir(), "quorate-account-"));
  writeFileSync(path.join(folder, "namespace"), "space\n");
  writeFileSync(path.join(folder, "token"), "token-of-the-pod\n");
  writeFileSync(path.join(folder, "ca.crt"), identity.certificatePem);
  try {
    const { port } = server.address() as AddressInfo;
    const environment = {
      KUBERNETES_SERVICE_HOST: "localhost",
      KUBERNETES_SERVICE_PORT: String(port),
    };
    const access = loadClusterAccess(environment, folder);
    await work(createKubernetesSecrets(access, { team: "ledger" }), asked);
  } finally {
    rmSync(folder, { recursive: true });
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
}

describe("Secrets of a cluster", () => {
  it("reads one by its name in the pod's namespace, decoded", async () => {
    const data = { "network.json": Buffer.from("{}").toString("base64") };
    await withServer([{ status: 200, body: { data } }], async (secrets, asked) => {
      assert.deepEqual(await secrets.get("demo-network"), { "network.json": "{}" });
      assert.equal(asked[0]?.url, "/api/v1/namespaces/space/secrets/demo-network");
    });
  });

  it("says that there is none", async () => {
    await withServer([{ status: 404 }], async (secrets) => {
      assert.equal(await secrets.get("demo-network"), undefined);
    });
  });

  it("creates one with its labels, and leaves one that is there alone", async () => {
    await withServer([{ status: 201 }, { status: 409 }], async (secrets, asked) => {
      assert.equal(await secrets.create("demo-keys", { "client-0.key": "secret" }), true);
      assert.equal(await secrets.create("demo-keys", {}), false);
      const [first] = asked;
      assert.equal(first?.method, "POST");
      assert.deepEqual(JSON.parse(first.body), {
        apiVersion: "v1",
        kind: "Secret",
        metadata: { name: "demo-keys", labels: { team: "ledger" } },
        type: "Opaque",
        data: { "client-0.key": Buffer.from("secret").toString("base64") },
      });
    });
  });

  it("asks again when the server is busy", async () => {
    await withServer([{ status: 503 }, { status: 404 }], async (secrets, asked) => {
      assert.equal(await secrets.get("demo-keys"), undefined);
      assert.equal(asked.length, 2);
    });
  });

  it("passes on why it was refused", async () => {
    const body = { message: "secrets is forbidden" };
    await withServer([{ status: 403, body }], async (secrets) => {
      await assert.rejects(secrets.get("demo-keys"), {
        code: "CLUSTER_REFUSED",
        message: /secrets is forbidden/,
      });
    });
  });

  it("says that this is no pod", () => {
    assert.throws(() => loadClusterAccess({}), { code: "CLUSTER_ACCESS_MISSING" });
    const environment = { KUBERNETES_SERVICE_HOST: "localhost" };
    assert.throws(() => loadClusterAccess(environment, "/nowhere"), {
      code: "CLUSTER_ACCESS_MISSING",
    });
  });
});
