/** Disks that lost something, and a peer with an unknown key: the whole network as processes. */
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, describe, it } from "node:test";
import { connect } from "node:tls";
import { createTlsIdentity } from "../../src/crypto/certificate.ts";
import { decodeWalRecord } from "../../src/storage/wal-record.ts";
import { listSegments } from "../../src/storage/wal-segment.ts";
import { AcknowledgedLoad } from "../support/acknowledged-load.ts";
import { LooseNodes } from "../support/processes/loose-nodes.ts";
import { waitFor, type Service } from "../support/processes/network-process.ts";

const STRANGER_WAIT_MS = 2_000;

describe("damage", () => {
  let nodes: LooseNodes;
  let load: AcknowledgedLoad;

  before(async () => {
    nodes = await LooseNodes.start(mkdtempSync(path.join(tmpdir(), "quorate-damage-")));
    load = new AcknowledgedLoad(nodes);
    await waitFor(async () => (await nodes.blockNumber()) > 20, "the chain goes on");
  });
  after(async () => {
    await load.stop();
    await nodes.close();
  });

  const settle = async (): Promise<void> => {
    await load.stop();
    await load.assertKept();
    await nodes.whenEqual(60_000);
    load = new AcknowledgedLoad(nodes);
  };
  /** Changes the newest segment of a replica's log; `ends` is where each of its records ends. */
  const changeLog = (
    service: Service,
    change: (bytes: Uint8Array, ends: readonly number[]) => void,
  ): void => {
    const { path: file } = listSegments(path.join(nodes.folderOf(service), "log")).at(-1)!;
    const bytes = readFileSync(file);
    const ends: number[] = [];
    for (let record = decodeWalRecord(bytes, 0); record !== undefined;) {
      const end = (ends.at(-1) ?? 0) + record.size;
      ends.push(end);
      record = decodeWalRecord(bytes, end);
    }
    assert.ok(ends.length > 10, `${ends.length} records`);
    change(bytes, ends);
    writeFileSync(file, bytes);
  };

  it("a torn end of the log is cut off, and the replica starts", async () => {
    await nodes.kill("replica-1");
    changeLog("replica-1", (bytes, ends) => bytes.fill(0, ends.at(-1)! - 12, ends.at(-1)));
    nodes.run("replica-1");
    await nodes.whenReady("replica-1");
    assert.match(nodes.outputOf("replica-1"), /the torn end of the log was cut off/);
    await settle();
  });

  it("a damaged middle is refused with the command that repairs it, which works", async () => {
    await nodes.kill("replica-2");
    changeLog("replica-2", (bytes, ends) => {
      const middle = ends[Math.floor(ends.length / 2)]! - 9;
      bytes[middle] = bytes[middle]! ^ 0xff;
    });
    nodes.run("replica-2");
    const output = await nodes.ended("replica-2", 30_000);
    const line = output.split("\n").find((text) => text.startsWith("error ")) ?? "";
    assert.match(line, /^error WAL_CORRUPT: .*quorate replica --config .*--rejoin/);
    nodes.run("replica-2", ["--rejoin"]);
    await nodes.whenReady("replica-2", 60_000);
    await settle();
  });

  it("a damaged state is made again from the blocks, by itself", async () => {
    await nodes.kill("replica-3");
    const file = path.join(nodes.folderOf("replica-3"), "state", "data.mdb");
    const bytes = readFileSync(file);
    bytes.fill(0xa5, 0, Math.min(bytes.length, 64 * 1024));
    writeFileSync(file, bytes);
    nodes.run("replica-3");
    await nodes.whenReady("replica-3");
    assert.match(nodes.outputOf("replica-3"), /the state was damaged and is made again/);
    await settle();
  });

  it("a replica that lost everything is let in again, under load", async () => {
    await nodes.kill("replica-0");
    rmSync(nodes.folderOf("replica-0"), { recursive: true });
    nodes.run("replica-0");
    await nodes.whenReady("replica-0", 60_000);
    await settle();
  });

  it("a peer with an unknown key gets no byte", async () => {
    const network = JSON.parse(readFileSync(path.join(nodes.dataPath, "network.json"), "utf8")) as {
      readonly replicas: readonly { readonly port: number }[];
    };
    const { port } = network.replicas[1]!;
    const stranger = createTlsIdentity(new Uint8Array(32).fill(7), "replica-0");
    const credentials = { cert: stranger.certificatePem, key: stranger.privateKeyPem };
    const received = await new Promise<number>((resolve) => {
      let bytes = 0;
      const socket = connect({
        ...{ ...credentials, host: "127.0.0.1", port, ALPNProtocols: ["quorate/1"] },
        // The test acts as an unknown peer that skips all checks.
        rejectUnauthorized: false,
      });
      const timer = setTimeout(() => socket.destroy(), STRANGER_WAIT_MS);
      socket.on("secureConnect", () => socket.write(new Uint8Array(64)));
      socket.on("data", (data) => (bytes += data.length));
      socket.on("error", () => undefined);
      socket.on("close", () => {
        clearTimeout(timer);
        resolve(bytes);
      });
    });
    assert.equal(received, 0);
    const standing = await nodes.standing("replica-1");
    assert.equal(standing?.mode, "active");
  });
});
