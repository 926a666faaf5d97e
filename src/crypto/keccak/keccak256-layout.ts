/** What the kernel and its caller agree on. */

/** Bytes absorbed by each permutation: 1600 bits of state less twice the 256 of the digest. */
export const RATE = 136;

/** Places in the kernel's memory. The digest takes the place of the state. */
export const DIGEST_OFFSET = 0;
export const STATE_OFFSET = 0;
export const CONSTANTS_OFFSET = 256;
export const INPUT_OFFSET = 512;

/** Flags of a call: the first starts from the empty state, the last pads and gives the digest. */
export const FLAG_FIRST = 1;
export const FLAG_LAST = 2;
