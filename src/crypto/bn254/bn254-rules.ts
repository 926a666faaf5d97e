/** alt_bn128 on encoded points (EIP-196, EIP-197); undefined is an input that is refused. */
export type Bn254 = {
  /** Of two points in a row. */
  add(points: Uint8Array): Uint8Array | undefined;
  /** Any 256-bit scalar: it counts modulo the order of the group. */
  multiply(point: Uint8Array, scalar: Uint8Array): Uint8Array | undefined;
  /** Whether the product of the pairings of the (G1, G2) pairs, 192 bytes each, is one. */
  pairingCheck(pairs: Uint8Array): boolean | undefined;
};
