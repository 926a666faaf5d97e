import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { CodedError } from "../../../src/base/coded-error.ts";
import { addressToChecksumHex } from "../../../src/chain/address.ts";
import { parseArguments } from "../../../src/cli/command.ts";
import { COMMANDS } from "../../../src/cli/command-table.ts";
import { createDevAccounts } from "../../../src/local-network/dev-accounts.ts";
import { errorLine } from "../../../src/node/error-line.ts";
import { commandHelp, programHelp } from "../../../src/cli/help-text.ts";
import { progressProblem, type ReplicaView } from "../../../src/node/progress.ts";
import { parseUpOptions, UP_OPTIONS } from "../../../src/cli/up-arguments.ts";

const COMMAND = {
  name: "go",
  positionals: "[place ...]",
  options: [
    { name: "speed", value: "N", summary: "" },
    { name: "fast", summary: "" },
  ],
};

function codeOf(act: () => unknown): string {
  try {
    act();
    return "";
  } catch (error) {
    return error instanceof CodedError ? error.code : String(error);
  }
}

describe("arguments of a command", () => {
  it("are texts, switches and the rest, in any order", () => {
    const given = parseArguments(COMMAND, ["home", "--speed", "3", "--fast", "away"]);
    assert.equal(given.texts["speed"], "3");
    assert.deepEqual([...given.switches], ["fast"]);
    assert.deepEqual(given.positionals, ["home", "away"]);
    assert.equal(parseArguments(COMMAND, ["--speed=4"]).texts["speed"], "4");
  });

  it("that do not exist, lack a value or have one too many are wrong usage", () => {
    for (const args of [["--slow"], ["--speed"], ["--fast=yes"]]) {
      assert.equal(
        codeOf(() => parseArguments(COMMAND, args)),
        "USAGE_WRONG",
        args.join(" "),
      );
    }
    const withoutPlaces = { name: "go", options: COMMAND.options };
    assert.equal(
      codeOf(() => parseArguments(withoutPlaces, ["home"])),
      "USAGE_WRONG",
    );
  });

  const up = (...args: string[]): ReturnType<typeof parseUpOptions> =>
    parseUpOptions(parseArguments({ name: "up", options: UP_OPTIONS }, args), {});

  it("of up have defaults, and leave the genesis to what is there", () => {
    const { rpcPort, chainId, timestamp, root } = up();
    assert.deepEqual(
      { rpcPort, chainId, timestamp },
      {
        rpcPort: 8545,
        chainId: undefined,
        timestamp: undefined,
      },
    );
    assert.match(root, /\.quorate$/);
    assert.equal(up("--genesis-timestamp", "1970-01-02 00:00:00").timestamp, 86_400n);
  });

  it("of up that make no sense are refused", () => {
    assert.equal(
      codeOf(() => up("--port", "65536")),
      "USAGE_WRONG",
    );
    assert.equal(
      codeOf(() => up("--chain-id", "0x1")),
      "USAGE_WRONG",
    );
    assert.equal(
      codeOf(() => up("--rejoin", "client-0")),
      "USAGE_WRONG",
    );
    assert.equal(
      codeOf(() => up("--log-level", "loud")),
      "USAGE_WRONG",
    );
    assert.equal(
      codeOf(() => up("--ephemeral", "--data", "x")),
      "USAGE_WRONG",
    );
    const code = codeOf(() => up("--genesis-timestamp", "2022-02-30 00:00:00"));
    assert.equal(code, "GENESIS_TIMESTAMP_NOT_A_DATE");
  });
});

describe("help", () => {
  it("lists every command, and every command has its own", async () => {
    for (const [name, { summary, load }] of COMMANDS) {
      assert.ok(programHelp().includes(`  ${name} `), name);
      const command = await load();
      assert.equal(command.name, name);
      assert.ok(summary.length > 0 && command.summary.length > 0, name);
      const help = commandHelp(command);
      for (const option of command.options) assert.ok(help.includes(`--${option.name}`), name);
    }
  });
});

describe("what the user reads when something fails", () => {
  it("is one line with a code, whatever went wrong", () => {
    const full = Object.assign(new Error("ENOSPC: no space left"), { code: "ENOSPC", path: "/x" });
    const cases: readonly (readonly [unknown, string])[] = [
      [full, "error DISK_FULL: no space is left for /x. Free some and start again."],
      [new CodedError("NEW_ONE", { a: 1 }), "error NEW_ONE: NEW_ONE (a=1). See docs/errors.md."],
      [
        new CodedError("WAL_CORRUPT", { node: "replica-1", sentence: "it is\nbroken." }),
        "error WAL_CORRUPT: replica-1: it is broken.",
      ],
    ];
    for (const [error, line] of cases) assert.equal(errorLine(error), line);
    assert.match(errorLine(new TypeError("x\ny")), /^error INTERNAL_ERROR: [^\n]*x y/);
    assert.match(errorLine("text"), /^error INTERNAL_ERROR: /);
  });
});

describe("why there is no progress", () => {
  const all = (more: Partial<ReplicaView>[]): readonly ReplicaView[] =>
    more.map((view, replica) => ({
      ...{ replica, isUp: true, mode: "active", isDiskFull: false },
      ...view,
    }));

  it("is nothing while a quorum works", () => {
    assert.equal(progressProblem(all([{}, {}, {}, {}]), 3), undefined);
    assert.equal(progressProblem(all([{}, {}, {}, { isUp: false }]), 3), undefined);
  });

  it("is said in words", () => {
    const down = { isUp: false, mode: undefined };
    const cases: readonly (readonly [Partial<ReplicaView>[], RegExp])[] = [
      [[{}, {}, down, down], /^no progress: 2 of 4 replicas are up, 3 are needed$/],
      [[down, down, {}, down], /^no progress: 1 of 4 replicas is up, 3 are needed$/],
      [[down, down, down, down], /^no progress: none of 4 replicas are up, 3 are needed$/],
      [[{}, {}, { mode: "observer" }, down], /2 of 4 replicas take part.*replica-2 is waiting/],
      [[{}, {}, { isDiskFull: true }, down], /the disk of replica-2 is full/],
    ];
    for (const [views, words] of cases) assert.match(progressProblem(all(views), 3) ?? "", words);
  });
});

describe("development accounts", () => {
  it("are those of the well-known mnemonic, so that wallets know them", () => {
    const accounts = createDevAccounts();
    assert.equal(accounts.length, 10);
    const addresses = accounts.map(({ address }) => addressToChecksumHex(address));
    assert.equal(addresses[0], "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266");
    assert.equal(addresses[9], "0xa0Ee7A142d267C1f36714E4a8F75612F20a79720");
  });
});
