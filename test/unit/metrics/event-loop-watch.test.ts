import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { EventLoopWatch, STALL_MS_MIN } from "../../../src/metrics/event-loop-watch.ts";
import { createEveryMetric } from "../../support/every-metric.ts";

describe("EventLoopWatch", () => {
  it("tells of a thread that was held up, and for how long", async () => {
    const heldUpMs = 4 * STALL_MS_MIN;
    let watch: EventLoopWatch | undefined;
    const stalledMs = await new Promise<number>((resolve) => {
      watch = new EventLoopWatch({ onStall: resolve });
      const endMs = performance.now() + heldUpMs;
      while (performance.now() < endMs);
      // The watch does not keep the process.
      setTimeout(() => resolve(0), 60_000).unref();
      setImmediate(() => setTimeout(() => undefined, heldUpMs));
    });
    watch?.close();
    assert.ok(stalledMs >= heldUpMs / 2, `${stalledMs} ms`);
  });

  it("a timer that is late by less is no stall", (context) => {
    context.mock.timers.enable({ apis: ["setInterval"] });
    const stalls: number[] = [];
    let nowMs = 0;
    const watch = new EventLoopWatch({ onStall: (ms) => stalls.push(ms), now: () => nowMs });
    for (const lateMs of [0, STALL_MS_MIN - 1, STALL_MS_MIN, STALL_MS_MIN + 1, 0]) {
      nowMs += 20 + lateMs;
      context.mock.timers.tick(20);
    }
    watch.close();
    assert.deepEqual(stalls, [STALL_MS_MIN + 1]);
  });

  it("the client node exports how often and how long", async () => {
    const { metrics, client } = createEveryMetric("client-0");
    client.onStall(200);
    client.onStall(300);
    const text = await metrics.text();
    assert.match(text, /quorate_client_stall_seconds_count\{[^}]*\} 2\n/);
    assert.match(text, /quorate_client_stall_seconds_sum\{[^}]*\} 0\.5\n/);
  });
});
