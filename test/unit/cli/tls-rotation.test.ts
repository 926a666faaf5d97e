/** New certificates in place of old ones, under a server that runs. */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { Agent, request } from "node:https";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, it } from "node:test";
import type { TLSSocket } from "node:tls";
import { readTls } from "../../../src/node/rpc-security.ts";
import { TlsRotation } from "../../../src/node/tls-rotation.ts";
import { CLIENT_SETTINGS, type ClientConfig } from "../../../src/config/node-settings.ts";
import { resolveSettings } from "../../../src/config/resolve-settings.ts";
import { createTlsIdentity } from "../../../src/crypto/certificate.ts";
import { DEFAULT_RPC_OPTIONS } from "../../../src/rpc/rpc-options.ts";
import { RpcServer } from "../../../src/rpc/server/rpc-server.ts";

const OLD = createTlsIdentity(new Uint8Array(32).fill(1), "old.example");
const NEW = createTlsIdentity(new Uint8Array(32).fill(2), "new.example");

describe("TLS files that are replaced", () => {
  let directory: string;
  let server: RpcServer;
  let rotation: TlsRotation;
  let agent: Agent;
  const told: string[] = [];

  const write = (name: "server.pem" | "server.key", text: string): void =>
    writeFileSync(path.join(directory, name), text);

  beforeEach(async () => {
    directory = mkdtempSync(path.join(tmpdir(), "quorate-rotation-"));
    told.length = 0;
    agent = new Agent({ keepAlive: true, maxSockets: 1 });
    write("server.pem", OLD.certificatePem);
    write("server.key", OLD.privateKeyPem);
    const config = configOf(directory);
    const used = readTls(config);
    assert.ok(used !== undefined);
    server = await RpcServer.open(
      { ...DEFAULT_RPC_OPTIONS, port: 0, tls: used },
      { methods: new Map([["eth_chainId", { name: "eth_chainId", run: () => "0x1388" }]]) },
    );
    const note = (message: string): void => void told.push(message);
    rotation = new TlsRotation(config, used, {
      replace: (tls) => server.replaceTls(tls),
      logger: { debug: note, info: note, warn: note, error: note },
    });
  });

  afterEach(async () => {
    rotation.close();
    agent.destroy();
    await server.close();
    rmSync(directory, { recursive: true, force: true });
  });

  /** The name in the certificate that a caller is shown. */
  const nameAt = (with_: Agent | false = false): Promise<string> =>
    new Promise((resolve, reject) => {
      const asked = request({
        ...{ host: "127.0.0.1", port: server.port, path: "/", method: "POST", agent: with_ },
        headers: { "content-type": "application/json" },
        rejectUnauthorized: false,
      });
      asked.on("error", reject);
      asked.on("response", (response) => {
        const { subject } = (response.socket as TLSSocket).getPeerCertificate();
        response.resume();
        response.on("end", () => resolve(String(subject.CN)));
      });
      asked.end('{"jsonrpc":"2.0","id":1,"method":"eth_chainId","params":[]}');
    });

  it("serve new connections, and leave open ones alone", async () => {
    assert.equal(await nameAt(agent), "old.example");
    rotation.check();
    assert.deepEqual(told, [], "nothing has changed");
    write("server.pem", NEW.certificatePem);
    write("server.key", NEW.privateKeyPem);
    rotation.check();
    assert.equal(await nameAt(), "new.example");
    assert.equal(await nameAt(agent), "old.example", "a connection that is open");
    assert.deepEqual(told, ["the certificate of ethrpc was replaced"]);
  });

  it("change nothing until they fit together, and are reported once", async () => {
    write("server.pem", NEW.certificatePem);
    rotation.check();
    rotation.check();
    assert.equal(await nameAt(), "old.example");
    assert.deepEqual(told, ["new TLS files cannot be used"]);
    rmSync(path.join(directory, "server.key"));
    rotation.check();
    assert.equal(await nameAt(), "old.example");
    write("server.key", NEW.privateKeyPem);
    rotation.check();
    assert.equal(await nameAt(), "new.example");
    assert.deepEqual(told.slice(-1), ["the certificate of ethrpc was replaced"]);
  });

  it("are looked at again and again by themselves", async () => {
    write("server.pem", NEW.certificatePem);
    write("server.key", NEW.privateKeyPem);
    rotation.start(1);
    // A timer of the rotation does not hold the process; this one waits for it.
    while (told.length === 0) await new Promise((resolve) => setTimeout(resolve, 1));
    assert.equal(await nameAt(), "new.example");
  });
});

function configOf(directory: string): ClientConfig {
  const tls = {
    cert: path.join(directory, "server.pem"),
    key: path.join(directory, "server.key"),
  };
  const resolved = resolveSettings(CLIENT_SETTINGS, {
    fileText: JSON.stringify({ network: "n", key: "k", data: "d", rpc: { tls } }),
    environment: {},
    flags: {},
    resolvePath: (text) => text,
  });
  assert.ok(resolved.ok);
  return resolved.value;
}
