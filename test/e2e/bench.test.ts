/** `quorate bench` against networks as users have them. */
import assert from "node:assert/strict";
import path from "node:path";
import { describe, it } from "node:test";
import { assertOneLine, runCommand, startNetwork } from "../support/processes/network-process.ts";

type Report = {
  readonly sent: number;
  readonly final: number;
  readonly chainId: number;
  readonly aloneP50Ms: number;
};

describe("quorate bench", () => {
  it("makes everything final that it sends, in either dialect and with tokens", async () => {
    const network = await startNetwork();
    try {
      for (const args of [
        ["--url", network.url],
        ["--url", `${network.url}/standard`, "--transfers", "erc20", "--rate", "50"],
      ]) {
        const more = ["--seconds", "1", "--senders", "8", "--in-flight", "40", "--json"];
        const { code, stdout, stderr } = await runCommand(["bench", ...args, ...more]);
        assert.equal(code, 0, stderr);
        const report = JSON.parse(stdout) as Report;
        assert.ok(report.final > 0 && report.final === report.sent, stdout);
        assert.equal(report.chainId, 5000);
        assert.ok(report.aloneP50Ms > 0);
        assert.match(stderr, /load {4}\d+%/, "progress in lines where there is no terminal");
      }
      const { stdout } = await runCommand(["bench", "--url", network.url, "--seconds", "1"]);
      assert.match(stdout, /^final +\d+ per second$/m);
    } finally {
      await network.stop();
    }
  });

  it("acts as one account where writing needs a right, and says so without its key", async () => {
    const network = await startNetwork({ args: ["--permission-write", "--permission-read"] });
    try {
      const key = path.join(network.dataPath, "keys", "admin.key");
      const args = ["bench", "--url", network.url, "--seconds", "1", "--json"];
      assert.equal((await runCommand(args)).code, 1, "reads need an identity");
      const { code, stdout, stderr } = await runCommand([...args, "--key", key]);
      assert.equal(code, 0, stderr);
      assert.ok((JSON.parse(stdout) as Report).final > 0);
    } finally {
      await network.stop();
    }
  });

  it("says in one line what keeps it from measuring", async () => {
    const away = await runCommand(["bench", "--url", "http://127.0.0.1:1"]);
    assertOneLine(away, "NETWORK_UNREACHABLE", /does not answer/);
    assert.equal((await runCommand(["bench", "--url", "ftp://x"])).code, 2);
    assert.equal((await runCommand(["bench", "--seconds", "0"])).code, 2);
  });
});
