/** BLS12-381 on encoded points (EIP-2537); undefined is an input that is refused. */
export type Bls12 = {
  addG1(points: Uint8Array): Uint8Array | undefined;
  addG2(points: Uint8Array): Uint8Array | undefined;
  /** The sum of (point, scalar) terms. */
  multiplySumG1(terms: Uint8Array): Uint8Array | undefined;
  multiplySumG2(terms: Uint8Array): Uint8Array | undefined;
  /** Whether the product of the pairings of the (G1, G2) pairs, 384 bytes each, is one. */
  pairingCheck(pairs: Uint8Array): boolean | undefined;
  mapToG1(element: Uint8Array): Uint8Array | undefined;
  mapToG2(element: Uint8Array): Uint8Array | undefined;
  /**
   * Whether the polynomial behind a KZG commitment has value y at z; false for what is not valid.
   */
  verifyKzgProof(commitment: Uint8Array, z: Uint8Array, y: Uint8Array, proof: Uint8Array): boolean;
};
