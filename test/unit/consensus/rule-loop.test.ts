import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { InvariantError } from "../../../src/base/invariant.ts";
import type { FinalCert } from "../../../src/consensus/certificate.ts";
import { createCore } from "../../../src/consensus/core.ts";
import type { ViewChange } from "../../../src/consensus/message.ts";
import { DEFAULT_PARAMETERS } from "../../../src/consensus/parameters.ts";
import { applyRules, ruleApplicationsMax } from "../../../src/consensus/rule-loop.ts";
import { sha256 } from "../../../src/crypto/sha256.ts";
import { ZERO_HASH_TEXT } from "../../../src/wire/hash-text.ts";
import { createPorts } from "../../../src/wire/ports.ts";
import {
  GENESIS,
  GENESIS_BLOCK,
  LoneReplica,
  NO_SIGNATURE,
  blockOn,
  proposeOf,
  transactionOf,
  voteOf,
} from "../../support/lone-replica.ts";

describe("the rules come to rest (PROTOCOL §4.3)", () => {
  it("a rule that applies for ever is an invariant failure that names it", () => {
    const core = emptyCore();
    const isSettled = (): boolean => false;
    const keepApplying = (): boolean => true;
    assert.throws(
      () => applyRules(core, [isSettled, keepApplying]),
      (error: unknown) =>
        error instanceof InvariantError &&
        error.message.includes("keepApplying") &&
        !error.message.includes("isSettled"),
    );
  });

  it("rules may apply as often as the limit says", () => {
    const core = emptyCore();
    let left = ruleApplicationsMax(core);
    applyRules(core, [() => left-- > 0]);
    assert.equal(left, -1);
  });

  it("a quorum of an earlier view than the known finality is not committed again and again", () => {
    const replica = new LoneReplica(2).start();
    const first = blockOn(GENESIS_BLOCK, [transactionOf(1)]);
    const second = blockOn(first, [transactionOf(2)]);
    replica.receive(0, proposeOf(0, 0, first));
    replica.receive(0, proposeOf(0, 0, second));
    // Replica 3 tells only this replica that the first block became final in view 1.
    assert.equal(replica.receive(3, viewChangeWith(slowCert(1, first))), undefined);
    const { view, finalHeight } = replica.replica.status();
    assert.deepEqual({ view, finalHeight }, { view: 1, finalHeight: 1 });
    replica.take();
    for (const voter of [0, 3]) replica.receive(voter, voteOf(voter, 0, second));
    assert.deepEqual(replica.sent("commit"), [], "view 0 was left");
    assert.equal(replica.replica.status().mode, "active");
  });

  it("final blocks of a higher view carry a replica into it, like a certificate alone", () => {
    const replica = new LoneReplica(2).start();
    const block = blockOn(GENESIS_BLOCK, [transactionOf(1)]);
    const certificate = slowCert(3, block);
    assert.equal(
      replica.receive(1, { kind: "blockResponse", blocks: [block], certificate }),
      undefined,
    );
    const { view, finalHeight, isAccepted } = replica.replica.status();
    assert.deepEqual(
      { view, finalHeight, isAccepted },
      { view: 3, finalHeight: 1, isAccepted: false },
    );
  });
});

function emptyCore(): ReturnType<typeof createCore> {
  const ports = createPorts({
    net: sha256(Uint8Array.of(7)),
    signer: { sign: () => NO_SIGNATURE },
  });
  return createCore(
    {
      ...DEFAULT_PARAMETERS,
      replicaCount: 4,
      self: 0,
      genesis: GENESIS,
      genesisResult: ZERO_HASH_TEXT,
    },
    ports,
  );
}

function slowCert(view: number, block: ReturnType<typeof blockOn>): FinalCert {
  const { hash, header } = block;
  const { epoch, height } = header;
  const commits = [0, 1, 3].map((sender) => ({ sender, signature: NO_SIGNATURE, height, hash }));
  return { kind: "slow", epoch, view, height, blockHash: hash, commits, links: [] };
}

function viewChangeWith(certificate: FinalCert): ViewChange {
  return {
    kind: "viewChange",
    epoch: 0,
    sender: 3,
    signature: NO_SIGNATURE,
    newView: 2,
    finalCert: certificate,
    highCert: certificate,
    votedView: 1,
    headersVoted: [],
    headersCert: [],
  };
}
