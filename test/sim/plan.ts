/**
 * What a seed stands for: the shape of the cluster and every fault of the run, drawn before it
 * starts. Each fault has a number, so that a failing run can be repeated without some of them.
 * Swarm testing: each seed draws its own mix, some calm, some hostile.
 */
import { Prng } from "../../src/base/prng.ts";
import { BEHAVIOURS, ORDERING_BEHAVIOURS, type Behaviour } from "./actor.ts";
import type { TailFate } from "./log-disk.ts";
import type { LinkQuality } from "./network.ts";

export const PROFILES = [
  "calm",
  "outage",
  "disks",
  "network",
  "byzantine",
  "twins",
  "divergence",
  "hostile",
] as const;
export type Profile = (typeof PROFILES)[number];

/** A replica by number, or the leader at the time of the fault. */
export type Victim = number | "leader";

/** About what an observer needs to be let in, with the rejoin interval of the simulator. */
const REJOIN_MAX_MS = 2_500;
/** Each so many seeds of a profile that damages disks put an observer's disk back. */
const RESTORED_OBSERVER_EVERY = 4;

/** The replica counts of a few seeds: more than seven replicas cost many messages. */
const LARGE_COUNTS: Readonly<Record<number, number>> = { 17: 10, 37: 13 };
const LARGE_EVERY = 40;

export type Fault = { readonly id: number; readonly atMs: number } & FaultKind;

export type FaultKind =
  | {
      readonly kind: "crash";
      readonly victim: Victim;
      readonly isSilent: boolean;
      readonly downMs: number;
      readonly fate: TailFate;
      /** Crash after so many further effects instead of between two inputs. */
      readonly afterEffects: number | undefined;
    }
  | { readonly kind: "power loss"; readonly fate: TailFate; readonly downMs: readonly number[] }
  | { readonly kind: "bit rot"; readonly victim: Victim; readonly downMs: number }
  | { readonly kind: "wiped disk"; readonly victim: Victim; readonly downMs: number }
  | {
      readonly kind: "restored old copy";
      readonly victim: Victim;
      readonly ageMs: number;
      readonly downMs: number;
    }
  | {
      /** A disk is lost, copied while its replica is an observer, and put back after it joined. */
      readonly kind: "restored observer";
      readonly victim: Victim;
      readonly downMs: number;
      /** How long the replica takes part before its disk is replaced. */
      readonly ageMs: number;
    }
  | { readonly kind: "failed sync"; readonly victim: Victim; readonly downMs: number }
  | {
      readonly kind: "slow disk";
      readonly victim: Victim;
      readonly forMs: number;
      readonly extraMs: number;
    }
  | {
      readonly kind: "slow execution";
      readonly victim: Victim;
      readonly forMs: number;
      readonly extraMs: number;
    }
  | { readonly kind: "pause"; readonly victim: Victim; readonly forMs: number }
  | {
      readonly kind: "partition";
      readonly side: readonly number[];
      readonly forMs: number;
      readonly notice: "none" | "both" | "first";
    }
  | {
      readonly kind: "one-way link";
      readonly from: number;
      readonly to: number;
      readonly forMs: number;
    }
  | {
      readonly kind: "flapping link";
      readonly a: number;
      readonly b: number;
      readonly count: number;
    }
  | {
      readonly kind: "slow link";
      readonly from: number;
      readonly to: number;
      readonly forMs: number;
      readonly extraMs: number;
    }
  | { readonly kind: "loss burst"; readonly rate: number; readonly forMs: number }
  | { readonly kind: "clock jump"; readonly victim: Victim; readonly deltaMs: number }
  | { readonly kind: "wrong execution"; readonly victim: Victim }
  | {
      readonly kind: "quorum outage";
      readonly victims: readonly number[];
      readonly isPartition: boolean;
      readonly forMs: number;
    }
  | { readonly kind: "leader cut off"; readonly forMs: number }
  | { readonly kind: "twins switch peers" }
  | { readonly kind: "foreign frame"; readonly from: number; readonly to: number };

export type Plan = {
  readonly seed: number;
  readonly profile: Profile;
  readonly replicaCount: number;
  readonly window: number;
  readonly gatherFrom: number;
  readonly gatherPerBlock: number;
  readonly execLagMax: number;
  readonly isEd25519: boolean;
  /** When the last fault has ended and everything must recover. */
  readonly healAtMs: number;
  readonly quality: LinkQuality;
  readonly qualitySpread: number;
  readonly syncUs: readonly [number, number];
  readonly executeUs: readonly [number, number];
  readonly compactEvery: number;
  readonly wallSkewMaxMs: number;
  readonly clientCount: number;
  readonly thinkUs: readonly [number, number];
  readonly fanOut: number;
  readonly byzantine: readonly {
    readonly replica: number;
    readonly behaviours: readonly Behaviour[];
  }[];
  /** The replica of which two copies run, if any. */
  readonly twin: number | undefined;
  readonly byzantineAfterHealing: boolean;
  readonly faults: readonly Fault[];
  /** False when the plan breaks so much that the chain may rightly stop. */
  readonly isLivenessExpected: boolean;
};

export function drawPlan(
  seed: number,
  options: { readonly replicaCount?: number; readonly isEd25519?: boolean } = {},
): Plan {
  const prng = new Prng(seed);
  const profile = prng.pick(PROFILES);
  const drawnCount = prng.chance(0.1) ? 7 : (LARGE_COUNTS[seed % LARGE_EVERY] ?? 4);
  const replicaCount = options.replicaCount ?? drawnCount;
  const faultsMax = (replicaCount - 1) / 3;
  const shape = drawShape(prng.fork(), profile);
  const order = drawOrder(prng.fork(), replicaCount);
  const byzantinePrng = prng.fork();
  const hasByzantine =
    profile === "byzantine" || (profile === "hostile" && byzantinePrng.chance(0.5));
  const byzantineCount = hasByzantine ? byzantinePrng.between(1, faultsMax) : 0;
  const byzantine = order.slice(0, byzantineCount).map((replica) => ({
    replica,
    behaviours: [...drawBehaviours(byzantinePrng), ...orderingBehaviours(seed)],
  }));
  const twin = profile === "twins" ? order[0] : undefined;
  const faultPrng = prng.fork();
  const scene = { profile, replicaCount, order, byzantineCount };
  const drawn = drawFaults(faultPrng, scene);
  const restored = restoredObservers(seed, scene).map((kind, index) => {
    return { id: drawn.length + index, atMs: 50, ...kind };
  });
  const faults = [...drawn, ...restored].toSorted((a, b) => a.atMs - b.atMs || a.id - b.id);
  const wrongCount = faults.filter(({ kind }) => kind === "wrong execution").length;
  return {
    seed,
    profile,
    replicaCount,
    isEd25519: options.isEd25519 ?? false,
    ...shape,
    // Few clients: with the default, the window would hardly ever hold two blocks.
    gatherFrom: 1 + (seed % 3),
    gatherPerBlock: seed % 4 === 3 ? 1 + (seed % 7) : 0,
    healAtMs: Math.max(3_000, ...faults.map(endOf)) + 200,
    clientCount: prng.between(3, 6),
    fanOut: prng.chance(0.7) ? replicaCount : prng.between(1, replicaCount),
    byzantine,
    twin,
    byzantineAfterHealing: prng.chance(0.5),
    faults,
    isLivenessExpected: wrongCount <= faultsMax,
  };
}

/**
 * Often with the first leader in front: a Byzantine replica that never leads has few ways to
 * misbehave.
 */
function drawOrder(prng: Prng, replicaCount: number): readonly number[] {
  const order = prng.shuffle(Array.from({ length: replicaCount }, (_, index) => index));
  return prng.chance(0.5) ? [0, ...order.filter((index) => index !== 0)] : order;
}

type Shape = Pick<
  Plan,
  | "window"
  | "execLagMax"
  | "quality"
  | "qualitySpread"
  | "syncUs"
  | "executeUs"
  | "compactEvery"
  | "wallSkewMaxMs"
  | "thinkUs"
>;

function drawShape(prng: Prng, profile: Profile): Shape {
  const isRough = profile === "network" || profile === "hostile";
  const rate = (chance: number, max: number): number =>
    prng.chance(chance) ? (prng.below(1000) / 1000) * max : 0;
  const delayUs = prng.pick([100, 200, 500, 1_000, 5_000]);
  const syncUs = prng.pick([100, 500, 2_000]);
  const executeUs = prng.pick([50, 300, 1_000]);
  return {
    window: prng.pick([1, 2, 4, 4, 4]),
    execLagMax: prng.pick([8, 16, 64]),
    quality: {
      delayUs,
      jitterUs: prng.pick([0, delayUs, 4 * delayUs]),
      loss: isRough ? rate(0.7, 0.05) : rate(0.2, 0.01),
      duplication: isRough ? rate(0.7, 0.05) : rate(0.2, 0.02),
      reordering: isRough ? rate(0.7, 0.1) : rate(0.1, 0.05),
      corruption: isRough ? rate(0.7, 0.03) : rate(0.2, 0.01),
    },
    qualitySpread: prng.pick([1, 1, 3]),
    syncUs: [syncUs, 2 * syncUs],
    executeUs: [executeUs, 3 * executeUs],
    compactEvery: prng.pick([30, 100, 300]),
    wallSkewMaxMs: prng.pick([0, 20, 300]),
    thinkUs: profile === "calm" ? [20_000, 150_000] : [20_000, prng.pick([120_000, 250_000])],
  };
}

function drawBehaviours(prng: Prng): readonly Behaviour[] {
  const count = prng.pick([1, 2, 4, BEHAVIOURS.length]);
  return prng.shuffle(BEHAVIOURS).slice(0, count);
}

function orderingBehaviours(seed: number): readonly Behaviour[] {
  const behaviour = ORDERING_BEHAVIOURS[seed % 4];
  return behaviour === undefined ? [] : [behaviour];
}

type Scene = {
  readonly profile: Profile;
  readonly replicaCount: number;
  /** Replicas in random order; the first ones are the Byzantine replicas. */
  readonly order: readonly number[];
  readonly byzantineCount: number;
};

type Draw = (prng: Prng, scene: Scene) => FaultKind;

const FATES: readonly TailFate[] = ["lost", "kept", "prefix", "subset", "torn"];

const DRAWS = {
  crash: (prng, scene) => ({
    kind: "crash",
    victim: victim(prng, scene),
    isSilent: prng.chance(0.3),
    downMs: prng.between(5, 1_200),
    fate: prng.pick(FATES),
    afterEffects: prng.chance(0.5) ? prng.between(1, 30) : undefined,
  }),
  "power loss": (prng, scene) => ({
    kind: "power loss",
    fate: prng.pick(FATES),
    downMs: Array.from({ length: scene.replicaCount }, () => prng.between(10, 600)),
  }),
  "bit rot": (prng, scene) => ({
    kind: "bit rot",
    victim: victim(prng, scene),
    downMs: prng.between(5, 400),
  }),
  "wiped disk": (prng, scene) => ({
    kind: "wiped disk",
    victim: victim(prng, scene),
    downMs: prng.between(5, 400),
  }),
  "restored old copy": (prng, scene) => ({
    kind: "restored old copy",
    victim: victim(prng, scene),
    ageMs: prng.between(10, 600),
    downMs: prng.between(5, 400),
  }),
  "failed sync": (prng, scene) => ({
    kind: "failed sync",
    victim: victim(prng, scene),
    downMs: prng.between(5, 400),
  }),
  "slow disk": (prng, scene) => ({
    kind: "slow disk",
    victim: victim(prng, scene),
    forMs: prng.between(100, 1_000),
    extraMs: prng.pick([5, 30, 100, 400]),
  }),
  "slow execution": (prng, scene) => ({
    kind: "slow execution",
    victim: victim(prng, scene),
    forMs: prng.between(100, 1_000),
    extraMs: prng.pick([5, 30, 100]),
  }),
  pause: (prng, scene) => ({
    kind: "pause",
    victim: victim(prng, scene),
    forMs: prng.between(20, 900),
  }),
  partition: (prng, scene) => ({
    kind: "partition",
    side: prng.shuffle(scene.order).slice(0, prng.between(1, scene.replicaCount - 1)),
    forMs: prng.between(30, 1_500),
    notice: prng.pick(["none", "both", "first"]),
  }),
  "one-way link": (prng, scene) => {
    const [from = 0, to = 1] = prng.shuffle(scene.order);
    return { kind: "one-way link", from, to, forMs: prng.between(30, 1_500) };
  },
  "flapping link": (prng, scene) => {
    const [a = 0, b = 1] = prng.shuffle(scene.order);
    return { kind: "flapping link", a, b, count: prng.between(1, 6) };
  },
  "slow link": (prng, scene) => {
    const [from = 0, to = 1] = prng.shuffle(scene.order);
    const extraMs = prng.pick([2, 20, 100, 300]);
    return { kind: "slow link", from, to, forMs: prng.between(100, 1_000), extraMs };
  },
  "loss burst": (prng) => ({
    kind: "loss burst",
    rate: prng.pick([0.05, 0.2, 0.5]),
    forMs: prng.between(50, 600),
  }),
  "clock jump": (prng, scene) => ({
    kind: "clock jump",
    victim: victim(prng, scene),
    deltaMs: prng.pick([-3_600_000, -2_000, -100, 100, 450, 700, 2_000]),
  }),
  "foreign frame": (prng, scene) => {
    const [from = 0, to = 1] = prng.shuffle(scene.order);
    return { kind: "foreign frame", from, to };
  },
  "twins switch peers": () => ({ kind: "twins switch peers" }),
  "leader cut off": (prng) => ({ kind: "leader cut off", forMs: prng.between(300, 900) }),
} satisfies Record<string, Draw>;

type DrawName = keyof typeof DRAWS;

const MIXES: Readonly<Record<Exclude<Profile, "calm" | "outage">, readonly DrawName[]>> = {
  disks: [
    "crash",
    "crash",
    "crash",
    "power loss",
    "bit rot",
    "wiped disk",
    "restored old copy",
    "failed sync",
    "slow disk",
  ],
  network: [
    "partition",
    "one-way link",
    "flapping link",
    "slow link",
    "loss burst",
    "foreign frame",
    "leader cut off",
  ],
  byzantine: ["crash", "pause", "slow link", "partition", "clock jump", "loss burst"],
  twins: ["twins switch peers", "twins switch peers", "crash", "partition", "slow link", "pause"],
  divergence: ["crash", "pause", "slow execution", "slow link", "clock jump"],
  hostile: Object.keys(DRAWS) as DrawName[],
};

function drawFaults(prng: Prng, scene: Scene): readonly Fault[] {
  if (scene.profile === "calm") return drawCalm(prng);
  if (scene.profile === "outage") return drawOutages(prng, scene);
  const mix = prng.shuffle(MIXES[scene.profile]);
  const names = mix.slice(0, prng.between(Math.min(2, mix.length), mix.length));
  const count = prng.between(8, 36);
  const spanMs = prng.between(2_500, 5_000);
  const faults: Fault[] = [];
  if (scene.profile === "divergence") {
    const count = prng.chance(0.7) ? 1 : 2;
    for (const victim of scene.order.slice(0, count)) {
      const atMs = prng.between(1_200, 3_000);
      faults.push({ id: faults.length, atMs, kind: "wrong execution", victim });
    }
  }
  for (let index = 0; index < count; index++) {
    const fork = prng.fork();
    const draw: Draw = DRAWS[fork.pick(names)];
    faults.push({ id: faults.length, atMs: fork.between(100, spanMs), ...draw(fork, scene) });
  }
  return faults;
}

/** Drawn from the seed alone, so that the other faults of a seed stay what they were. */
function restoredObservers(seed: number, { profile, replicaCount }: Scene): readonly FaultKind[] {
  const damagesDisks = profile === "disks" || profile === "hostile";
  if (!damagesDisks || seed % RESTORED_OBSERVER_EVERY !== 0) return [];
  const prng = new Prng(seed ^ 0xc0b1ed);
  const victim = prng.below(replicaCount);
  const downMs = prng.between(5, 200);
  return [{ kind: "restored observer", victim, downMs, ageMs: prng.between(10, 600) }];
}

/** One leader after another fails in an otherwise healthy network: recovery can be measured. */
function drawCalm(prng: Prng): readonly Fault[] {
  const faults: Fault[] = [];
  let atMs = 500;
  for (let id = 0; id < 5; id++) {
    const isSilent = prng.chance(0.5);
    const kind: FaultKind = isSilent
      ? { kind: "leader cut off", forMs: prng.between(600, 800) }
      : {
          kind: "crash",
          victim: "leader",
          isSilent: prng.chance(0.3),
          downMs: prng.between(300, 700),
          fate: "prefix",
          afterEffects: undefined,
        };
    faults.push({ id, atMs, ...kind });
    atMs += prng.between(1_500, 1_800);
  }
  return faults;
}

function drawOutages(prng: Prng, scene: Scene): readonly Fault[] {
  const faults: Fault[] = [];
  const quorumBreaking = (scene.replicaCount - 1) / 3 + 1;
  let atMs = prng.between(300, 600);
  for (let id = 0; id < 3; id++) {
    const forMs = prng.pick([300, 1_000, 4_000, 30_000]);
    const count = prng.between(quorumBreaking, scene.replicaCount);
    const victims = prng.shuffle(scene.order).slice(0, count);
    const isPartition = prng.chance(0.5);
    faults.push({ id, atMs, kind: "quorum outage", victims, isPartition, forMs });
    atMs += forMs + prng.between(2_500, 3_000);
  }
  return faults;
}

function victim(prng: Prng, scene: Scene): Victim {
  return prng.chance(0.3) ? "leader" : prng.below(scene.replicaCount);
}

function endOf(fault: Fault): number {
  switch (fault.kind) {
    case "power loss":
      return fault.atMs + Math.max(...fault.downMs);
    case "crash":
    case "bit rot":
    case "wiped disk":
    case "failed sync":
      return fault.atMs + fault.downMs;
    case "restored observer":
      return fault.atMs + 2 * fault.downMs + fault.ageMs + REJOIN_MAX_MS;
    case "restored old copy":
      return fault.atMs + fault.ageMs + fault.downMs;
    case "flapping link":
      return fault.atMs + 100 * fault.count;
    case "slow disk":
    case "slow execution":
    case "pause":
    case "partition":
    case "one-way link":
    case "slow link":
    case "loss burst":
    case "quorum outage":
    case "leader cut off":
      return fault.atMs + fault.forMs;
    case "clock jump":
    case "wrong execution":
    case "twins switch peers":
    case "foreign frame":
      return fault.atMs;
  }
}
