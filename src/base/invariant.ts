/**
 * An invariant of our own code does not hold. It is never caught: the process stops (see
 * docs/errors.md).
 */
export class InvariantError extends Error {
  override readonly name = "InvariantError";
}

/**
 * Asserts what must be true if our own code is right. It stays on in production: a node that has
 * lost its own invariants must stop rather than sign. Input from outside is never asserted.
 */
export function invariant(condition: boolean, message: string): asserts condition {
  if (!condition) throw new InvariantError(message);
}

/** Closes a `switch` over a union: the compiler proves that no case is missing. */
export function unreachable(value: never): never {
  throw new InvariantError(`unreachable case: ${String(value)}`);
}
