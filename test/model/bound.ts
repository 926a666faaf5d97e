/**
 * How far the checker looks: which blocks can be proposed, how many views each epoch has, and which
 * behaviours beyond the bare voting rules it explores. n = 4: three correct replicas and one
 * Byzantine replica whose messages are not part of the state, because it can send every one of them
 * at any time.
 */
/** A block by its number; 0 is genesis. */
export type BlockNumber = number;

export type BlockShape = {
  readonly parent: BlockNumber;
  readonly epoch: number;
  /** Final, it ends its epoch (PROTOCOL §9.3). */
  readonly isBoundary: boolean;
};

/** A view of an epoch. Rounds are numbered through all epochs. */
export type Round = { readonly epoch: number; readonly view: number };

/** What is explored besides votes, commits and view changes. */
export type Extensions = {
  /** Commits in a view whose NewView was not accepted (§5.3). */
  readonly commitsUnaccepted: boolean;
  /** Correct replicas report certificates that they only received. */
  readonly adoption: boolean;
  /** Reports carry finality certificates, and `choose` cuts the chains at the highest. */
  readonly finalCerts: boolean;
  /** Tips move to a final block without votes for the blocks between (§5.5). */
  readonly skips: boolean;
  readonly restarts: boolean;
  /** Disks are lost; their replicas come back in a later epoch (§9.3). */
  readonly losses: boolean;
};

/**
 * A rule of the model itself that is broken on purpose; rules of the product are patched instead.
 */
export type Deviation =
  | "none"
  | "certificate-not-durable"
  | "queued-vote-unreported"
  | "promise-lost"
  | "boundary-ignored"
  | "rejoin-at-once"
  | "rejoin-by-foreign-nonce";

export type Bound = {
  readonly name: string;
  readonly blocks: readonly BlockShape[];
  readonly viewsPerEpoch: readonly number[];
  readonly extensions: Extensions;
  /** Another naming of the blocks under which the tree looks the same: its own inverse. */
  readonly renaming: readonly BlockNumber[] | undefined;
};

const BARE: Extensions = {
  commitsUnaccepted: false,
  adoption: false,
  finalCerts: false,
  skips: false,
  restarts: false,
  losses: false,
};
const WHOLE: Extensions = {
  commitsUnaccepted: true,
  adoption: true,
  finalCerts: true,
  skips: true,
  restarts: true,
  losses: false,
};
const LOSSES: Extensions = { ...WHOLE, losses: true };

/** Genesis, two blocks on it, two on the first of these and one on the second. */
const SIX_BLOCKS = shapes([0, 0, 0, 1, 2, 1]);
/** Genesis and two blocks that conflict: all that can be said about single decisions. */
const TWO_VALUES = shapes([0, 0, 0]);
/** A chain of three beside a block that conflicts with it: room to skip and to go on. */
const LONG_CHAIN = shapes([0, 0, 0, 1, 3]);
/** A chain of two beside a block that conflicts with it. */
const FORKED_CHAIN = shapes([0, 0, 0, 1]);
/**
 * An ordinary block, a boundary, a block that wrongly continues the old epoch, and two blocks of
 * the new one.
 */
const TWO_EPOCHS: readonly BlockShape[] = [
  { parent: 0, epoch: 0, isBoundary: false },
  { parent: 0, epoch: 0, isBoundary: false },
  { parent: 0, epoch: 0, isBoundary: true },
  { parent: 2, epoch: 0, isBoundary: false },
  { parent: 2, epoch: 1, isBoundary: false },
  { parent: 2, epoch: 1, isBoundary: false },
];

const RENAMINGS = new Map<readonly BlockShape[], readonly BlockNumber[]>([
  [SIX_BLOCKS, [0, 1, 2, 5, 4, 3]],
  [TWO_VALUES, [0, 2, 1]],
  [TWO_EPOCHS, [0, 1, 2, 3, 5, 4]],
]);

export const BOUNDS = {
  bareBlocks: bound("2 views x 6 blocks, bare rules", SIX_BLOCKS, [2], BARE),
  bareViews: bound("3 views x 2 values, bare rules", TWO_VALUES, [3], BARE),
  wholeBlocks: bound("2 views x 6 blocks, all rules", SIX_BLOCKS, [2], WHOLE),
  wholeViews: bound("3 views x 2 values, all rules", TWO_VALUES, [3], WHOLE),
  longChain: bound("2 views x 5 blocks in a chain of 3, all rules", LONG_CHAIN, [2], WHOLE),
  viewsAndBlocks: bound("3 views x 4 blocks, all rules", FORKED_CHAIN, [3], WHOLE),
  bareEpochs: bound("2 epochs of 2 views, bare rules", TWO_EPOCHS, [2, 2], {
    ...BARE,
    finalCerts: true,
  }),
  lossBefore: bound("2 epochs of 2 and 1 views, lost disks", TWO_EPOCHS, [2, 1], LOSSES),
  lossAfter: bound("2 epochs of 1 and 2 views, lost disks", TWO_EPOCHS, [1, 2], LOSSES),
  smallBlocks: bound("2 views x 4 blocks, all rules", FORKED_CHAIN, [2], WHOLE),
  smallViews: bound("2 views x 2 values, all rules", TWO_VALUES, [2], WHOLE),
  smallEpochs: bound("2 epochs of 1 view, lost disks", TWO_EPOCHS, [1, 1], LOSSES),
} as const;

export type BoundName = keyof typeof BOUNDS;

function shapes(parents: readonly BlockNumber[]): readonly BlockShape[] {
  return parents.map((parent) => ({ parent, epoch: 0, isBoundary: false }));
}

function bound(
  name: string,
  blocks: readonly BlockShape[],
  viewsPerEpoch: readonly number[],
  extensions: Extensions,
): Bound {
  return { name, blocks, viewsPerEpoch, extensions, renaming: RENAMINGS.get(blocks) };
}

export function roundsOf(viewsPerEpoch: readonly number[]): readonly Round[] {
  return viewsPerEpoch.flatMap((views, epoch) =>
    Array.from({ length: views }, (_, view) => ({ epoch, view })),
  );
}
