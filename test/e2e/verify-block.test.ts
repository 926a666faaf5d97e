/** Certificates of a real network, checked offline: good ones hold, tampered ones do not. */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, describe, it } from "node:test";
import { CodedError } from "../../src/base/coded-error.ts";
import { hexToBytes, type Hex } from "../../src/base/hex.ts";
import { genesisBlockHashOf } from "../../src/local-network/create-network.ts";
import { verifyBlock } from "../../src/cli/verify-block/verify-block.ts";
import { type NetworkFile, parseNetworkFile } from "../../src/config/network-file.ts";
import {
  assertOneLine,
  PROGRAM,
  rpc,
  runCommand,
  startNetwork,
  type RunningNetwork,
} from "../support/processes/network-process.ts";
import { sendOne } from "../support/network-transfers.ts";

type Vote = { readonly replica: number; readonly epoch: number; readonly signature: Hex };
type Shown = {
  readonly blockNumber: Hex;
  readonly blockHash: Hex;
  readonly header: Hex;
  readonly network: Hex;
  readonly height: Hex;
  readonly consensusHash: Hex;
  readonly consensusHeaders: readonly Hex[];
  readonly commitCertificate: Hex;
  readonly result: Hex;
  readonly resultSignatures: readonly Vote[];
};

/** f+1 of four. */
const VOTES_MIN = 2;

describe("verify-block", () => {
  let network: RunningNetwork;
  let file: NetworkFile;
  let directory: string;
  let shown: Shown;
  let other: Shown;

  before(async () => {
    network = await startNetwork({});
    directory = mkdtempSync(path.join(tmpdir(), "quorate-verify-"));
    for (const nonce of [0, 1]) await sendOne(network, nonce);
    shown = (await network.rpc("quorate_getCertificate", ["0x1"])) as Shown;
    other = (await network.rpc("quorate_getCertificate", ["0x2"])) as Shown;
    const text = readFileSync(path.join(network.dataPath, "network.json"), "utf8");
    const parsed = parseNetworkFile(text, Date.now());
    assert.ok(parsed.ok);
    file = parsed.value;
  });

  after(async () => {
    await network.stop();
    rmSync(directory, { recursive: true, force: true });
  });

  const codeOf = (certificate: unknown, wanted?: Parameters<typeof verifyBlock>[2]): string => {
    try {
      verifyBlock(file, JSON.stringify(certificate), wanted);
      return "proved";
    } catch (error) {
      return error instanceof CodedError ? error.code : String(error);
    }
  };

  it("proves a block of the running network by its number, its hash and as latest", async () => {
    const data = ["--data", network.dataPath];
    for (const block of ["1", "0x1", shown.blockHash]) {
      const { code, stdout, stderr } = await runCommand(["verify-block", block, "--json", ...data]);
      assert.equal(code, 0, stderr);
      const proved = JSON.parse(stdout) as Record<string, unknown>;
      const told = (await rpc(`${network.url}/standard`, "eth_getBlockByNumber", [
        ...["0x1", false],
      ])) as Record<string, unknown>;
      assert.equal(proved["blockNumber"], 1);
      assert.equal(proved["blockHash"], shown.blockHash);
      for (const name of ["stateRoot", "receiptsRoot", "transactionsRoot", "parentHash"]) {
        assert.equal(proved[name], told[name], name);
      }
      assert.ok((proved["signers"] as number[]).length >= VOTES_MIN);
    }
    const latest = await runCommand(["verify-block", "latest", "--url", network.url, ...data]);
    assert.equal(latest.code, 0, latest.stderr);
    assert.match(latest.stdout, /^block 2 of quorate-5000 is final/);
  });

  it("proves offline what was saved, from a file and from stdin, in both forms", () => {
    const networkFile = path.join(network.dataPath, "network.json");
    const saved = path.join(directory, "block.json");
    writeFileSync(saved, JSON.stringify({ jsonrpc: "2.0", id: 1, result: shown }));
    const run = (certificate: string, input: string, ...more: readonly string[]): string => {
      const args = ["verify-block", "--certificate", certificate, "--network", networkFile];
      const { status, stdout, stderr } = spawnSync(process.execPath, [PROGRAM, ...args, ...more], {
        input,
        encoding: "utf8",
      });
      assert.equal(status, 0, stderr);
      return stdout;
    };
    assert.match(run(saved, ""), /^block 1 of /);
    assert.match(run("-", JSON.stringify(other), "2"), /^block 2 of /);
  });

  it("says in one line what does not hold", async () => {
    const data = ["--data", network.dataPath];
    const saved = path.join(directory, "other.json");
    const check = (certificate: unknown, ...more: readonly string[]) => {
      writeFileSync(saved, JSON.stringify(certificate));
      return runCommand(["verify-block", "--certificate", saved, ...more, ...data]);
    };
    assertOneLine(await check(shown, "2"), "CERTIFICATE_BLOCK_WRONG", /proves block 1 0x.*, not 2/);
    const forged = { ...shown, header: other.header };
    assertOneLine(await check(forged), "CERTIFICATE_RESULT_WRONG", /[Dd]o not believe it/);
    const form = { ...shown, header: undefined, result: "0x12" };
    const words = /header is missing; result must be 0x-hex of 32 bytes/;
    assertOneLine(await check(form), "CERTIFICATE_MALFORMED", words);
    const genesis = await runCommand(["verify-block", "0", ...data]);
    assertOneLine(genesis, "NETWORK_CALL_FAILED", /genesis has no certificate/);
    const usage = await runCommand(["verify-block", ...data]);
    assert.equal(usage.code, 2, "neither a block nor a certificate");
  });

  it("is proof for no certificate in which any one field is changed", () => {
    const votes = shown.resultSignatures.slice(0, VOTES_MIN);
    const least = { ...shown, resultSignatures: votes };
    assert.equal(codeOf(least), "proved", "f+1 signatures are enough");
    const voteWith = (change: Partial<Vote>): Partial<Shown> => ({
      resultSignatures: [{ ...votes[0]!, ...change }, ...votes.slice(1)],
    });
    const absent = [0, 1, 2, 3].find((index) => votes.every(({ replica }) => replica !== index))!;
    const cases: readonly (readonly [name: string, Partial<Shown>, code: string])[] = [
      ["blockNumber", { blockNumber: "0x2" }, "CERTIFICATE_BLOCK_WRONG"],
      ["blockHash", { blockHash: turned(shown.blockHash) }, "CERTIFICATE_BLOCK_WRONG"],
      ["header", { header: turned(shown.header) }, "CERTIFICATE_RESULT_WRONG"],
      ["header's form", { header: cut(shown.header) }, "CERTIFICATE_HEADER_MALFORMED"],
      ["network", { network: turned(shown.network) }, "CERTIFICATE_NETWORK_WRONG"],
      ["height", { height: other.height }, "CERTIFICATE_VOTES_MISSING"],
      ["consensusHash", { consensusHash: other.consensusHash }, "CERTIFICATE_RESULT_WRONG"],
      ["result", { result: other.result }, "CERTIFICATE_RESULT_WRONG"],
      ["a vote's replica", voteWith({ replica: absent }), "CERTIFICATE_VOTES_MISSING"],
      ["a vote's epoch", voteWith({ epoch: votes[0]!.epoch + 1 }), "CERTIFICATE_VOTES_MISSING"],
      [
        "a vote's signature",
        voteWith({ signature: turned(votes[0]!.signature) }),
        "CERTIFICATE_VOTES_MISSING",
      ],
      ["one vote twice", voteWith(votes[1]!), "CERTIFICATE_VOTES_MISSING"],
      ["no vote", { resultSignatures: [] }, "CERTIFICATE_VOTES_MISSING"],
      [
        "consensusHeaders",
        { consensusHeaders: shown.consensusHeaders.map(turned) },
        "CERTIFICATE_CHAIN_BROKEN",
      ],
      ["no headers", { consensusHeaders: [] }, "CERTIFICATE_CHAIN_BROKEN"],
      [
        "a header too many",
        { consensusHeaders: [...shown.consensusHeaders, ...shown.consensusHeaders.slice(-1)] },
        "CERTIFICATE_CHAIN_BROKEN",
      ],
      [
        "commitCertificate",
        { commitCertificate: turned(shown.commitCertificate) },
        "CERTIFICATE_COMMIT_INVALID",
      ],
    ];
    for (const [name, change, code] of cases)
      assert.equal(codeOf({ ...least, ...change }), code, name);
    const changed = new Set(cases.flatMap(([, change]) => Object.keys(change)));
    assert.deepEqual([...changed].sort(), Object.keys(shown).sort(), "every field has a case");
    for (const name of Object.keys(shown)) {
      for (const value of [undefined, null, 7, "x", {}]) {
        assert.equal(codeOf({ ...least, [name]: value }), "CERTIFICATE_MALFORMED", name);
      }
    }
  });

  it("believes the genesis alone: other keys, or another block 0, are another network", () => {
    const { genesis } = file;
    const [first, second, ...rest] = genesis.replicaPublicKeys;
    const swapped = { ...genesis, replicaPublicKeys: [second!, first!, ...rest] };
    const verify = (with_: NetworkFile): unknown =>
      verifyBlock(with_, JSON.stringify(shown), { hash: hexToBytes(shown.blockHash) });
    assert.ok(verify(file));
    const strange = { ...file, genesis: swapped, genesisBlockHash: genesisBlockHashOf(swapped) };
    assert.throws(() => verify(strange), { code: "CERTIFICATE_NETWORK_WRONG" });
    assert.throws(() => verify({ ...file, genesisBlockHash: new Uint8Array(32) }), {
      code: "CONFIG_INVALID",
    });
  });
});

/** With its last bit turned. */
function turned(hex: Hex): Hex {
  const last = (Number.parseInt(hex.slice(-1), 16) ^ 1).toString(16);
  return `${hex.slice(0, -1)}${last}` as Hex;
}

function cut(hex: Hex): Hex {
  return hex.slice(0, -2) as Hex;
}
