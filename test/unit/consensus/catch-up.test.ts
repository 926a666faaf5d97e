import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { FinalCert } from "../../../src/consensus/certificate.ts";
import type { Status } from "../../../src/consensus/message.ts";
import { LoneReplica, NO_SIGNATURE, hashOf } from "../../support/lone-replica.ts";

describe("what a replica believes of a Status (PROTOCOL §6.5)", () => {
  it("one peer that reports a far height starts no catch-up", () => {
    const replica = new LoneReplica(1).start();
    replica.take();
    for (let round = 0; round < 20; round++) {
      replica.receive(3, statusOf(2 ** 45));
      replica.pass(50);
    }
    const effects = replica.take();
    assert.ok(!effects.some((effect) => effect.kind === "notice"));
    const kinds = effects.flatMap((effect) =>
      effect.kind === "send" ? [effect.message.kind] : [],
    );
    assert.ok(!kinds.includes("blockRequest"), "what no other replica has is not requested");
    assert.ok(kinds.includes("status"), "a peer that is really ahead is given reason to prove it");
  });

  it("f+1 peers that report more start one, to the lower of their heights", () => {
    const replica = new LoneReplica(1).start();
    replica.take();
    replica.receive(3, statusOf(2 ** 45));
    replica.receive(2, statusOf(100));
    assert.deepEqual(catchUps(replica), [{ code: "CATCHING_UP", from: 0, to: 100 }]);
  });

  it("a certificate of one peer is enough", () => {
    const replica = new LoneReplica(1).start();
    replica.take();
    replica.receive(3, { kind: "finality", certificate: fastCert(70) });
    const effects = replica.take();
    assert.deepEqual(noticesOf(effects), [{ code: "CATCHING_UP", from: 0, to: 70 }]);
    const requests = effects.flatMap((effect) =>
      effect.kind === "send" && effect.message.kind === "blockRequest" ? [effect.message] : [],
    );
    assert.deepEqual(requests[0], { kind: "blockRequest", fromHeight: 1, toHeight: 32 });
  });

  it("a false Status beside a true lag does not raise the height", () => {
    const replica = new LoneReplica(1).start();
    replica.receive(0, statusOf(50));
    replica.receive(2, statusOf(50));
    replica.receive(3, statusOf(2 ** 45));
    replica.take();
    replica.pass(2_000);
    assert.deepEqual(catchUps(replica), []);
  });
});

function catchUps(replica: LoneReplica): readonly unknown[] {
  return noticesOf(replica.take());
}

function noticesOf(effects: ReturnType<LoneReplica["take"]>): readonly unknown[] {
  return effects.flatMap((effect) => (effect.kind === "notice" ? [effect.notice] : []));
}

function statusOf(finalHeight: number): Status {
  return { kind: "status", epoch: 0, view: 0, finalHeight, execHeight: 0 };
}

function fastCert(height: number): FinalCert {
  const votes = [0, 1, 2, 3].map((sender) => ({ sender, signature: NO_SIGNATURE }));
  return { kind: "fast", epoch: 0, view: 0, height, blockHash: hashOf(height), votes };
}
