/** A broken promise of the protocol, named as in docs/PROTOCOL.md (S1-S13, L1-L7). */
export class Violation extends Error {
  override readonly name = "Violation";
  readonly invariant: string;

  constructor(invariant: string, text: string) {
    super(`${invariant}: ${text}`);
    this.invariant = invariant;
  }
}
