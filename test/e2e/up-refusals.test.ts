/** What `quorate up` says when something is wrong: one line, what happened and what to do. */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import {
  closeSync,
  copyFileSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  rmSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, describe, it } from "node:test";
import {
  assertOneLine,
  PROGRAM,
  runCommand,
  startNetwork,
  waitFor,
} from "../support/processes/network-process.ts";
import { sendOne } from "../support/network-transfers.ts";

type JsonRecord = Readonly<Record<string, unknown>>;

/** Enough to have something in the midst of the logs. */
const TRANSACTIONS = 20;

describe("quorate up, when something is wrong", () => {
  const wrongDirectory = mkdtempSync(path.join(tmpdir(), "quorate-wrong-"));
  const dataPath = path.join(wrongDirectory, "network");
  const file = (name: string): string => path.join(dataPath, name);
  const upArgs = ["up", "--data", dataPath, "--port", "0"];

  before(async () => {
    const network = await startNetwork({ dataPath });
    try {
      for (let nonce = 0; nonce < TRANSACTIONS; nonce++) await sendOne(network, nonce);
    } finally {
      await network.stop();
    }
  });
  after(() => rmSync(wrongDirectory, { recursive: true, force: true }));

  /** With one file changed; it is put back. */
  const withFile = async (
    name: string,
    change: () => void,
    use: () => Promise<void>,
  ): Promise<void> => {
    const kept = readFileSync(file(name));
    change();
    try {
      await use();
    } finally {
      writeFileSync(file(name), kept);
    }
  };
  const refused = async (args: readonly string[], code: string, words: RegExp): Promise<void> =>
    assertOneLine(await runCommand(args), code, words);

  it("refuses another chain id or timestamp than the network has", async () => {
    await refused([...upArgs, "--chain-id", "77"], "GENESIS_CHANGED", /chain-id 5000, not 77/);
    const timestamp = ["--genesis-timestamp", "2023-01-01 00:00:00"];
    await refused([...upArgs, ...timestamp], "GENESIS_CHANGED", /2022-12-02 00:01:00/);
  });

  it("refuses a timestamp in the future or of another form", async () => {
    const fresh = ["up", "--data", path.join(wrongDirectory, "fresh"), "--genesis-timestamp"];
    const inFuture = [...fresh, "2999-01-01 00:00:00"];
    await refused(inFuture, "GENESIS_TIMESTAMP_IN_FUTURE", /2999-01-01 00:00:00/);
    await refused([...fresh, "2022-12-02T00:01:00Z"], "GENESIS_TIMESTAMP_MALFORMED", /YYYY-MM-DD/);
  });

  it("refuses a wrong, a damaged and a missing key", async () => {
    const key = "keys/replica-2.key";
    const copyOther = (): void => copyFileSync(file("keys/replica-1.key"), file(key));
    await withFile(key, copyOther, () => refused(upArgs, "KEY_WRONG", /replica-2/));
    const damage = (): void => writeFileSync(file(key), "nonsense");
    await withFile(key, damage, () => refused(upArgs, "KEY_UNREADABLE", /no Ed25519 key/));
    const remove = (): void => rmSync(file(key));
    await withFile(key, remove, () => refused(upArgs, "KEY_UNREADABLE", /not there/));
  });

  it("refuses a damaged network file or configuration and names every problem", async () => {
    for (const name of ["network.json", "config/replica-0.json"]) {
      const cut = (): void => writeFileSync(file(name), "{");
      await withFile(name, cut, () => refused(upArgs, "CONFIG_INVALID", /it is not JSON/));
    }
    const spoil = (): void => {
      const text = readFileSync(file("network.json"), "utf8");
      const chainId = text.replace('"chainId": 5000', '"chainId": "many"');
      writeFileSync(file("network.json"), chainId.replace('"version": 1', '"version": 9'));
    };
    await withFile("network.json", spoil, () =>
      refused(upArgs, "CONFIG_INVALID", /version must be 1; genesis\.chainId must be/),
    );
  });

  it("refuses to begin anew over nodes that have data", async () => {
    const remove = (): void => rmSync(file("network.json"));
    await withFile("network.json", remove, () =>
      refused(upArgs, "NETWORK_FILE_MISSING", /from a backup/),
    );
  });

  it("refuses a port of a replica that another program took", async () => {
    const { replicas } = JSON.parse(readFileSync(file("network.json"), "utf8")) as {
      replicas: { port: number }[];
    };
    const server = createServer().listen(replicas[1]!.port, "127.0.0.1");
    await once(server, "listening");
    try {
      await refused(upArgs, "PORT_TAKEN", /replica-1/);
    } finally {
      server.close();
    }
  });

  it("runs on without a replica whose log is damaged, which rejoins when told to", async () => {
    damage(file("replica-2/log"), 3_000);
    const withoutOne = await startNetwork({ dataPath });
    try {
      const hasSaid = (): boolean =>
        /replica-2: WAL_CORRUPT: .* --rejoin/.test(withoutOne.output.stderr);
      await waitFor(hasSaid, "it says what to do");
      await sendOne(withoutOne, TRANSACTIONS);
      const shown = await runCommand(["status", "--data", dataPath]);
      assert.equal(shown.code, 0, shown.stdout);
      assert.match(shown.stdout, /it works with 3 of 4 replicas, but bears no further failure/);
    } finally {
      await withoutOne.stop();
    }
    const whole = await startNetwork({ dataPath, args: ["--rejoin", "replica-2"] });
    try {
      const isBack = async (): Promise<boolean> => {
        const ready = whole.health("replica-2", "/ready") as Promise<JsonRecord>;
        return ready.then(({ isReady }) => isReady === true).catch(() => false);
      };
      await waitFor(isBack, "replica-2 takes part again");
      for (let more = 1; more < TRANSACTIONS; more++) await sendOne(whole, TRANSACTIONS + more);
    } finally {
      assert.equal(await whole.stop(), 0);
    }
  });

  it("refuses a damaged journal, and the command that it names repairs it", async () => {
    damage(file("client-0/journal"), 1_000);
    const { code, stderr } = await runCommand(upArgs);
    assert.equal(code, 1);
    const [line = ""] = stderr.split("\n").filter((text) => text.startsWith("error "));
    const repair = /^error WAL_CORRUPT: client-0: .* Run: quorate (.+)$/.exec(line)?.[1];
    assert.ok(repair !== undefined, stderr);
    const node = spawn(process.execPath, [PROGRAM, ...repair.split(" ")], { stdio: "pipe" });
    await once(node.stdout, "data");
    node.kill("SIGTERM");
    await once(node, "close");
    const network = await startNetwork({ dataPath });
    try {
      await sendOne(network, 2 * TRANSACTIONS);
    } finally {
      assert.equal(await network.stop(), 0);
    }
  });

  it("refuses what it does not know with exit code 2", async () => {
    for (const args of [["fly"], ["up", "--fly"], ["up", "--port", "many"], ["logs", "nobody"]]) {
      const { code, stderr } = await runCommand(args);
      assert.equal(code, 2, args.join(" "));
      assert.match(stderr, /^error USAGE_WRONG: .* Run "quorate help.*\n$/, args.join(" "));
    }
  });

  it("says so where there is no network", async () => {
    const data = ["--data", path.join(wrongDirectory, "nothing")];
    await refused(["status", ...data], "NETWORK_MISSING", /quorate up/);
    await refused(["logs", ...data], "NETWORK_MISSING", /quorate up/);
    const stopped = await runCommand(["down", ...data]);
    assert.equal(stopped.code, 0);
    assert.match(stopped.stdout, /nothing runs/);
  });
});

/** Turns some bytes around, in the midst of what was durable. */
function damage(log: string, offset: number): void {
  const [segment = ""] = readdirSync(log).sort((a, b) => (a < b ? -1 : 1));
  const opened = openSync(path.join(log, segment), "r+");
  const bytes = Buffer.alloc(40);
  readSync(opened, bytes, 0, bytes.length, offset);
  const turned = bytes.map((byte) => byte ^ 0xff);
  writeSync(opened, turned, 0, turned.length, offset);
  closeSync(opened);
}
