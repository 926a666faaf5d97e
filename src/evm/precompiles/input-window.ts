/**
 * The bytes offset .. offset+size-1 of an input that is thought of as followed by endless zeros.
 * A view where the input has them all, a padded copy where it has not.
 */
export function inputWindow(input: Uint8Array, offset: number, size: number): Uint8Array {
  if (offset + size <= input.length) return input.subarray(offset, offset + size);
  const window = new Uint8Array(size);
  if (offset < input.length) window.set(input.subarray(offset));
  return window;
}

/** How many 32-byte words the input touches. */
export function wordCount(input: Uint8Array): number {
  return Math.ceil(input.length / 32);
}
