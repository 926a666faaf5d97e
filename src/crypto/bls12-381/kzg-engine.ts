import { bls12_381 } from "@noble/curves/bls12-381.js";
import { readBigEndian } from "../../base/big-endian.ts";
import type { Pair } from "../pairing/extension-field.ts";
import type { G1Term } from "../pairing/g1-group.ts";
import type { G1Affine, G2Affine, PointPair } from "../pairing/pairing-product.ts";
import { TAU_G2 } from "./kzg-noble.ts";

/** What the check needs of the curve. */
type KzgCurve = {
  squareRoots(values: Pair): Pair;
  areInG1(points: readonly G1Affine[]): boolean;
  sumG1(terms: readonly G1Term[]): G1Affine | undefined;
  isProductOne(pairs: readonly PointPair[]): boolean;
};

const PRIME = bls12_381.fields.Fp.ORDER;
const ORDER = bls12_381.fields.Fr.ORDER;
const COMPRESSED_SIZE = 48;

/** Whether the committed polynomial has value y at z. False for anything malformed. */
export function verifyKzgProof(
  curve: KzgCurve,
  commitment: Uint8Array,
  zBytes: Uint8Array,
  yBytes: Uint8Array,
  proof: Uint8Array,
): boolean {
  const z = readBigEndian(zBytes, 0, zBytes.length);
  const y = readBigEndian(yBytes, 0, yBytes.length);
  if (z >= ORDER || y >= ORDER) return false;
  const points = decompress(curve, commitment, proof);
  if (points === undefined) return false;
  const [committed, quotient] = points;
  const finite = points.filter((point) => point !== "infinity");
  if (!curve.areInG1(finite)) return false;
  generators ??= loadGenerators();
  // e(C - y + z Q, 1) = e(Q, tau): the form whose G2 sides are both constant.
  const terms: G1Term[] = [{ point: generators.g1, scalar: (ORDER - y) % ORDER }];
  if (committed !== "infinity") terms.push({ point: committed, scalar: 1n });
  if (quotient !== "infinity") terms.push({ point: quotient, scalar: z });
  const left = curve.sumG1(terms.filter(({ scalar }) => scalar !== 0n));
  const pairs: PointPair[] = [];
  if (left !== undefined) pairs.push({ g1: left, g2: generators.g2 });
  if (quotient !== "infinity") {
    pairs.push({ g1: { x: quotient.x, y: PRIME - quotient.y }, g2: generators.tau });
  }
  return curve.isProductOne(pairs);
}

type Generators = { readonly g1: G1Affine; readonly g2: G2Affine; readonly tau: G2Affine };

let generators: Generators | undefined;

function loadGenerators(): Generators {
  const pairOf = ({ c0, c1 }: { c0: bigint; c1: bigint }): Pair => [c0, c1];
  const [g2, tau] = [bls12_381.G2.Point.BASE, TAU_G2].map((point) => {
    const { x, y } = point.toAffine();
    return { x: pairOf(x), y: pairOf(y) };
  });
  if (g2 === undefined || tau === undefined) throw new TypeError("no generators");
  return { g1: bls12_381.G1.Point.BASE.toAffine(), g2, tau };
}

type Compressed = { readonly x: bigint; readonly isLarger: boolean } | "infinity";

/** Both points at once, because their roots are taken side by side. */
function decompress(
  curve: KzgCurve,
  first: Uint8Array,
  second: Uint8Array,
): readonly [G1Affine | "infinity", G1Affine | "infinity"] | undefined {
  const a = parseCompressed(first);
  const b = parseCompressed(second);
  if (a === undefined || b === undefined) return undefined;
  const squares: Pair = [squareOf(a), squareOf(b)];
  const roots = curve.squareRoots(squares);
  const isRoot = (index: 0 | 1): boolean =>
    (roots[index] * roots[index] - squares[index]) % PRIME === 0n;
  if (!isRoot(0) || !isRoot(1)) return undefined;
  return [pointOf(a, roots[0]), pointOf(b, roots[1])];
}

/** The form of the Zcash protocol: three flags in the first byte, then x. */
function parseCompressed(bytes: Uint8Array): Compressed | undefined {
  if (bytes.length !== COMPRESSED_SIZE) return undefined;
  const flags = bytes[0] ?? 0;
  const isCompressed = (flags & 0x80) !== 0;
  const isInfinity = (flags & 0x40) !== 0;
  const isLarger = (flags & 0x20) !== 0;
  const x = readBigEndian(bytes, 0, bytes.length) & ((1n << 381n) - 1n);
  if (!isCompressed) return undefined;
  if (isInfinity) return x === 0n && !isLarger ? "infinity" : undefined;
  return x < PRIME ? { x, isLarger } : undefined;
}

function squareOf(point: Compressed): bigint {
  return point === "infinity" ? 0n : (point.x * point.x * point.x + 4n) % PRIME;
}

function pointOf(point: Compressed, root: bigint): G1Affine | "infinity" {
  if (point === "infinity") return "infinity";
  const isRootLarger = 2n * root > PRIME;
  return { x: point.x, y: isRootLarger === point.isLarger ? root : PRIME - root };
}
