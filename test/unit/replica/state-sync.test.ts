/** One peer's word about the height of the network costs requests, never execution. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { StateSync } from "../../../src/replica/state-sync/state-sync.ts";
import {
  decodeStateMessage,
  encodeStateMessage,
  type StateMessage,
} from "../../../src/wire/state-codec.ts";
import { until } from "../../support/following-client.ts";
import { SILENT_LOGGER } from "../../support/replica-network.ts";

const TIMING = { answerMs: 30, resultsMs: 30, resultsRetryMs: 5, roundMs: 5 };

type Played = {
  readonly sync: StateSync;
  /** The commands to execution, in order. */
  readonly told: string[];
  readonly asked: { readonly to: number; readonly message: StateMessage }[];
};

/** A replica that has executed 5 heights; `answer` is what a peer says to a request. */
function play(answer: (to: number, message: StateMessage) => StateMessage | undefined): Played {
  const told: string[] = [];
  const asked: { to: number; message: StateMessage }[] = [];
  const sync: StateSync = new StateSync(
    { statePath: "none", gapMin: 1_000, timing: TIMING },
    {
      logger: SILENT_LOGGER,
      weakQuorum: 2,
      isActive: () => true,
      executedHeight: () => 5,
      fedHeight: () => 5,
      peersUp: () => [1, 2, 3],
      isSigned: () => true,
      signedResult: () => undefined,
      importState: () =>
        Promise.resolve({ ok: true, value: { next: undefined, ready: undefined } }),
      send: (to, bytes) => {
        const decoded = decodeStateMessage(bytes);
        assert.ok(decoded.ok);
        asked.push({ to, message: decoded.value });
        const answered = answer(to, decoded.value);
        if (answered === undefined) return;
        setImmediate(() => sync.onFrame(to, encodeStateMessage(answered)));
      },
      share: () => undefined,
      hold: () => told.push("hold"),
      release: () => told.push("release"),
      replace: () => told.push("replace"),
      onRefused: () => undefined,
      onFailed: (error) => assert.fail(String(error)),
    },
  );
  return { sync, told, asked };
}

describe("state sync", () => {
  it("a height that no peer can prove never stops execution", async () => {
    const refused = { kind: "snapshotRefused", code: "SNAPSHOT_TOO_LOW" } as const;
    const { sync, told, asked } = play((to) => (to === 3 ? undefined : refused));
    sync.consider(2 ** 45);
    assert.equal(sync.isTransferring, true);
    await until(() => !sync.isTransferring, "all peers were asked for a state");
    assert.ok(
      asked.some(({ to }) => to === 3),
      "also the silent one",
    );
    assert.deepEqual(told, []);
    await sync.close();
  });

  it("an offer that f+1 signed results do not prove never stops execution", async () => {
    const offer = { kind: "snapshotOffer", snapshot: 1, height: 2_000, headers: [] } as const;
    const { sync, told } = play((_, { kind }) => (kind === "snapshotRequest" ? offer : undefined));
    sync.consider(2 ** 45);
    await until(() => !sync.isTransferring, "all peers were asked for a state");
    assert.deepEqual(told, []);
    await sync.close();
  });

  it("a replica that asks for a state still serves its own", async () => {
    const { sync, asked } = play(() => undefined);
    sync.consider(2 ** 45);
    const request = { kind: "snapshotRequest", minHeight: 6 } as const;
    sync.onFrame(2, encodeStateMessage(request));
    const answers = asked.flatMap(({ message }) =>
      message.kind === "snapshotRefused" ? message.code : [],
    );
    assert.deepEqual(answers, ["SNAPSHOT_TOO_LOW"], "not that it serves none");
    await sync.close();
  });
});
