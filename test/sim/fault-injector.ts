/** Carries out the faults of a plan on a running cluster, and ends them again. */
import { bytesToHex } from "../../src/base/hex.ts";
import { invariant } from "../../src/base/invariant.ts";
import type { Prng } from "../../src/base/prng.ts";
import type { Message } from "../../src/consensus/message.ts";
import type { Coverage } from "./coverage.ts";
import type { EventQueue } from "./event-queue.ts";
import type { DiskCopy } from "./log-disk.ts";
import type { Network } from "./network.ts";
import type { Fault, Plan, Victim } from "./plan.ts";
import type { SafetyChecker } from "./checkers/safety-checker.ts";
import type { SimNode } from "./sim-node.ts";
import type { Trace } from "./trace.ts";

const POLL_MS = 2;

export type Stage = {
  readonly plan: Plan;
  readonly queue: EventQueue;
  readonly network: Network;
  readonly coverage: Coverage;
  readonly trace: Trace;
  readonly checker: SafetyChecker;
  readonly prng: Prng;
  /** All endpoints; the first `replicaCount` are the replicas themselves. */
  readonly nodes: readonly SimNode[];
  readonly encode: (message: Message) => Uint8Array;
  readonly currentLeader: () => number;
  readonly onOutage: (fault: Fault & { readonly kind: "quorum outage" }, hasBegun: boolean) => void;
  readonly onLeaderFault: (kind: "link down" | "silent") => void;
  readonly switchTwins: () => void;
};

export class FaultInjector {
  readonly #stage: Stage;

  constructor(stage: Stage) {
    this.#stage = stage;
  }

  schedule(faults: readonly Fault[]): void {
    for (const fault of faults) {
      this.#stage.queue.at(fault.atMs * 1000, () => {
        this.#stage.trace.note(() => `FAULT ${JSON.stringify(fault)}`);
        this.#begin(fault);
      });
    }
  }

  /** Every machine runs again and no message is lost any more. */
  healAll(): void {
    const { nodes, network, plan } = this.#stage;
    network.heal();
    for (const node of nodes) {
      node.log.syncSlowdownUs = 0;
      node.executeSlowdownUs = 0;
      node.wallSkewMs = Math.max(
        -plan.wallSkewMaxMs,
        Math.min(plan.wallSkewMaxMs, node.wallSkewMs),
      );
      if (node.isPaused()) node.resume();
      if (plan.isLivenessExpected) this.#mendExecution(node);
      if (!node.isAlive()) node.start(false);
    }
    for (let from = 0; from < nodes.length; from++) {
      for (let to = 0; to < nodes.length; to++) {
        if (from !== to) network.setQuality(from, to, { delayUs: this.#delayUs(from, to) });
      }
    }
  }

  /** The operator's answer to a wrong computation: throw the state away and compute it again. */
  #mendExecution(node: SimNode): void {
    if (node.perturbFromHeight === Infinity) return;
    node.perturbFromHeight = Infinity;
    node.crash("kept", false);
    node.app.forgetState();
  }

  #begin(fault: Fault): void {
    switch (fault.kind) {
      case "crash": {
        this.#crash(fault);
        return;
      }
      case "power loss": {
        this.#powerLoss(fault);
        return;
      }
      case "bit rot":
      case "wiped disk":
      case "restored old copy": {
        this.#damageDisk(fault);
        return;
      }
      case "restored observer": {
        this.#restoreObserver(fault);
        return;
      }
      case "failed sync": {
        this.#failSync(fault);
        return;
      }
      case "slow disk":
      case "slow execution":
      case "pause": {
        this.#slow(fault);
        return;
      }
      case "partition":
      case "one-way link":
      case "flapping link":
      case "slow link":
      case "loss burst":
      case "leader cut off": {
        this.#disturb(fault);
        return;
      }
      case "quorum outage": {
        this.#outage(fault);
        return;
      }
      case "clock jump": {
        const node = this.#node(fault.victim);
        this.#count(fault.kind);
        node.wallSkewMs += fault.deltaMs;
        this.#noteClock(node);
        return;
      }
      case "wrong execution":
        this.#node(fault.victim).perturbFromHeight = 50;
        return;
      case "twins switch peers":
        this.#count(fault.kind);
        {
          this.#stage.switchTwins();
          return;
        }
      case "foreign frame": {
        this.#foreignFrame(fault);
        return;
      }
    }
  }

  #noteClock(node: SimNode): void {
    const { checker } = this.#stage;
    if (!node.isCorrect()) return;
    checker.clockAheadMaxMs = Math.max(checker.clockAheadMaxMs, node.wallSkewMs);
  }

  #crash(fault: Fault & { readonly kind: "crash" }): void {
    const node = this.#node(fault.victim);
    if (!node.isAlive()) return;
    const restart = (): void => this.#restartLater(node, fault.downMs);
    if (fault.afterEffects !== undefined) {
      node.crashAfterEffects(fault.afterEffects, restart);
      return;
    }
    this.#count(fault.isSilent ? "silent crash" : "crash");
    if (fault.victim === "leader") {
      this.#stage.onLeaderFault(fault.isSilent ? "silent" : "link down");
    }
    node.crash(fault.fate, fault.isSilent);
    restart();
  }

  #powerLoss(fault: Fault & { readonly kind: "power loss" }): void {
    this.#count(fault.kind);
    for (const node of this.#stage.nodes) {
      if (!node.isAlive()) continue;
      node.crash(fault.fate, true);
      this.#restartLater(node, fault.downMs[node.index] ?? 0);
    }
  }

  /**
   * Only as many disks at a time as the protocol tolerates together with the Byzantine replicas.
   */
  #damageDisk(
    fault: Fault & { readonly kind: "bit rot" | "wiped disk" | "restored old copy" },
  ): void {
    const node = this.#node(fault.victim);
    if (!node.isAlive() || !this.#mayLoseDisk(node)) return;
    if (fault.kind === "restored old copy") {
      const copy = node.log.disk.copy();
      const lives = node.lifeNumber();
      this.#stage.queue.after(fault.ageMs * 1000, () => {
        if (node.lifeNumber() === lives && this.#mayLoseDisk(node))
          this.#restore(node, copy, fault.downMs);
      });
      return;
    }
    this.#count(fault.kind);
    node.crash("prefix", false);
    if (fault.kind === "wiped disk") node.loseDisk();
    else if (node.log.disk.rot(this.#stage.prng)) node.markRolledBack();
    this.#restartLater(node, fault.downMs);
  }

  #restore(node: SimNode, copy: DiskCopy, downMs: number): void {
    this.#count("restored old copy");
    node.crash("lost", false);
    if (node.log.disk.restore(copy)) node.markRolledBack();
    this.#restartLater(node, downMs);
  }

  /**
   * A replica loses its disk and becomes an observer; its disk is copied, it joins an epoch by its
   * nonce and signs; then the copy is put back.
   */
  #restoreObserver(fault: Fault & { readonly kind: "restored observer" }): void {
    const node = this.#node(fault.victim);
    if (!node.isAlive() || !this.#mayLoseDisk(node)) return;
    node.crash("prefix", false);
    node.loseDisk();
    this.#restartLater(node, fault.downMs);
    let copy: DiskCopy | undefined;
    this.#when(
      () => {
        const { disk } = node.log;
        const isObserver = node.status()?.mode === "observer";
        if (isObserver && disk.durableThrough() === disk.lastSequence()) copy ??= disk.copy();
        return copy !== undefined && node.status()?.mode === "active";
      },
      () => {
        this.#later(fault.ageMs, () => {
          if (copy !== undefined && node.isAlive()) this.#putBack(node, copy, fault.downMs);
        });
      },
    );
  }

  #putBack(node: SimNode, copy: DiskCopy, downMs: number): void {
    const { plan, queue } = this.#stage;
    if (queue.nowMs() + downMs > plan.healAtMs || !this.#mayLoseDisk(node)) return;
    this.#count("restored observer");
    node.crash("lost", false);
    node.loseDisk(copy);
    this.#restartLater(node, downMs);
  }

  /** Looks every few milliseconds until everything heals. */
  #when(isDue: () => boolean, run: () => void): void {
    if (isDue()) {
      run();
    } else if (this.#stage.queue.nowMs() < this.#stage.plan.healAtMs) {
      this.#later(POLL_MS, () => this.#when(isDue, run));
    }
  }

  #mayLoseDisk(node: SimNode): boolean {
    const { nodes, plan } = this.#stage;
    if (!node.isCorrect()) return false;
    const faultsMax = (plan.replicaCount - 1) / 3;
    const wrong = plan.faults.filter(({ kind }) => kind === "wrong execution").length;
    const lost = nodes.filter(
      (other) => other !== node && (other.hasLostDisk || other.isUntrusted() || !other.isCorrect()),
    );
    return lost.length + wrong < faultsMax;
  }

  #failSync(fault: Fault & { readonly kind: "failed sync" }): void {
    const node = this.#node(fault.victim);
    if (!node.isAlive()) return;
    node.log.failsNextSync = true;
    const life = node.lifeNumber();
    const check = (): void => {
      if (node.lifeNumber() === life) this.#stage.queue.after(5_000, check);
      else this.#restartLater(node, fault.downMs);
    };
    check();
  }

  #slow(fault: Fault & { readonly kind: "slow disk" | "slow execution" | "pause" }): void {
    const node = this.#node(fault.victim);
    if (!node.isAlive()) return;
    this.#count(fault.kind);
    const life = node.lifeNumber();
    if (fault.kind === "pause") {
      node.pause();
      this.#later(fault.forMs, () => {
        if (node.lifeNumber() === life && node.isPaused()) node.resume();
      });
    } else if (fault.kind === "slow disk") {
      node.log.syncSlowdownUs = fault.extraMs * 1000;
      this.#later(fault.forMs, () => (node.log.syncSlowdownUs = 0));
    } else {
      node.executeSlowdownUs = fault.extraMs * 1000;
      this.#later(fault.forMs, () => (node.executeSlowdownUs = 0));
    }
  }

  #disturb(
    fault: Fault & {
      readonly kind:
        | "partition"
        | "one-way link"
        | "flapping link"
        | "slow link"
        | "loss burst"
        | "leader cut off";
    },
  ): void {
    const { network, nodes } = this.#stage;
    this.#count(fault.kind);
    switch (fault.kind) {
      case "partition": {
        this.#partition(fault.side, fault.forMs, fault.notice);
        return;
      }
      case "leader cut off":
        this.#stage.onLeaderFault("silent");
        {
          this.#partition([this.#stage.currentLeader()], fault.forMs, "none");
          return;
        }
      case "one-way link":
        network.setCut(fault.from, fault.to, true);
        this.#later(fault.forMs, () => network.setCut(fault.from, fault.to, false));
        return;
      case "flapping link":
        for (let count = 0; count < fault.count; count++) {
          this.#later(100 * count, () => {
            const sides = this.#stage.prng.chance(0.5) ? "both" : "first";
            network.disconnect(fault.a, fault.b, sides);
          });
        }
        return;
      case "slow link": {
        const delayUs = this.#delayUs(fault.from, fault.to) + fault.extraMs * 1000;
        network.setQuality(fault.from, fault.to, { delayUs });
        this.#later(fault.forMs, () => {
          const normalUs = this.#delayUs(fault.from, fault.to);
          network.setQuality(fault.from, fault.to, { delayUs: normalUs });
        });
        return;
      }
      case "loss burst":
        this.#setLoss(nodes.length, fault.rate);
        this.#later(fault.forMs, () => this.#setLoss(nodes.length, this.#stage.plan.quality.loss));
    }
  }

  #setLoss(endpointCount: number, loss: number): void {
    for (let from = 0; from < endpointCount; from++) {
      for (let to = 0; to < endpointCount; to++) {
        if (from !== to) this.#stage.network.setQuality(from, to, { loss });
      }
    }
  }

  #partition(side: readonly number[], forMs: number, notice: "none" | "both" | "first"): void {
    const { network, nodes } = this.#stage;
    const pairs: (readonly [number, number])[] = [];
    for (const a of nodes) {
      for (const b of nodes) {
        if (side.includes(a.index) && !side.includes(b.index)) pairs.push([a.endpoint, b.endpoint]);
      }
    }
    const setAll = (isCut: boolean): void => {
      for (const [a, b] of pairs) {
        network.setCut(a, b, isCut);
        network.setCut(b, a, isCut);
      }
    };
    setAll(true);
    if (notice !== "none") for (const [a, b] of pairs) network.disconnect(a, b, notice);
    this.#later(forMs, () => setAll(false));
  }

  #outage(fault: Fault & { readonly kind: "quorum outage" }): void {
    const { nodes, onOutage } = this.#stage;
    this.#count(fault.kind);
    onOutage(fault, true);
    if (fault.isPartition) {
      for (const victim of fault.victims) this.#partition([victim], fault.forMs, "both");
    } else {
      for (const victim of fault.victims) {
        const node = nodes[victim]!;
        node.crash("prefix", false);
        this.#restartLater(node, fault.forMs);
      }
    }
    this.#later(fault.forMs, () => onOutage(fault, false));
  }

  /** Bytes on a link that no replica of this network ever wrote. */
  #foreignFrame(fault: Fault & { readonly kind: "foreign frame" }): void {
    const { network, prng, nodes, encode } = this.#stage;
    this.#count(fault.kind);
    if (prng.chance(0.3)) {
      network.send(fault.from, fault.to, prng.bytes(prng.between(1, 300)));
      return;
    }
    const vote = {
      kind: "vote",
      epoch: 0,
      sender: fault.from,
      view: 0,
      height: nodes[fault.from]!.app.finalHeight() + 1,
      blockHash: bytesToHex(prng.bytes(32)),
      signature: prng.bytes(64),
    } as const;
    network.send(fault.from, fault.to, encode(vote));
  }

  #restartLater(node: SimNode, downMs: number): void {
    const life = node.lifeNumber();
    this.#later(downMs, () => {
      if (!node.isAlive() && node.lifeNumber() === life) {
        this.#stage.coverage.count("recovery: restart");
        node.start(false);
      }
    });
  }

  #delayUs(from: number, to: number): number {
    const { quality, qualitySpread } = this.#stage.plan;
    return quality.delayUs * (1 + ((from * 7 + to * 3) % qualitySpread));
  }

  #node(victim: Victim): SimNode {
    const index = victim === "leader" ? this.#stage.currentLeader() : victim;
    const node = this.#stage.nodes[index];
    invariant(node !== undefined, "the victim is one of the replicas");
    return node;
  }

  #count(kind: string): void {
    this.#stage.coverage.count(`fault: ${kind}`);
  }

  #later(delayMs: number, run: () => void): void {
    this.#stage.queue.after(delayMs * 1000, run);
  }
}
