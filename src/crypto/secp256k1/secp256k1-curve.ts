/** What the node needs of the curve, so that a faster library can take its place. */
export type Secp256k1 = {
  readonly isNative: boolean;
  recoverPublicKey(
    hash: Uint8Array,
    signature: Uint8Array,
    recoveryId: number,
  ): Uint8Array | undefined;
  sign(hash: Uint8Array, privateKey: Uint8Array): RecoverableSignature;
  publicKeyOf(privateKey: Uint8Array): Uint8Array;
};

/** `signature` is r and s, 32 bytes each; s is in the lower half of the order (EIP-2). */
export type RecoverableSignature = {
  readonly signature: Uint8Array;
  readonly recoveryId: number;
};
