/**
 * Results that final headers name (PROTOCOL §8). A final block has the votes of f+1 correct
 * replicas, each of which knew the result that its header names and had the same. So such a result
 * is proved, and with it all before it: a result commits to the hash of the Ethereum block, and
 * each of these to its parent.
 *
 * Signed results are preferred, because they are the proof that others can check. They may be
 * missing for good, where fewer than f+1 replicas that executed a height are left.
 */
import type { Hash, Header } from "../../consensus/block.ts";

export type NamedResult = { readonly height: number; readonly result: Hash };

export type HeaderResultsOptions = {
  /** How long a height waits for signed results before headers count. */
  readonly patienceMs: number;
};

export type HeaderResultsDependencies = {
  /** Of a block that is proved final. */
  readonly headerAt: (height: number) => Pick<Header, "execHeight" | "execResult"> | undefined;
  readonly now: () => number;
};

export class HeaderResults {
  readonly #options: HeaderResultsOptions;
  readonly #dependencies: HeaderResultsDependencies;
  #waitingSinceMs: number | undefined;
  /** The last height was proved by a header: the ones after it do not wait for votes anew. */
  #isVoteless = false;
  /** The headers up to this one have been looked at; the last one of them names `#found`. */
  #scanned = 0;
  #found: NamedResult | undefined;

  constructor(options: HeaderResultsOptions, dependencies: HeaderResultsDependencies) {
    this.#options = options;
    this.#dependencies = dependencies;
  }

  /** A height was published, proved by signed results or by a header. */
  onPublished(by: "votes" | "header"): void {
    this.#waitingSinceMs = undefined;
    this.#isVoteless = by === "header";
  }

  /**
   * The lowest height above the published one that a final header names; undefined if there is none
   * yet, or while votes may still come. It is at most `execLagMax` above the published one, because
   * a header names a result of the last `execLagMax` heights and never a lower one than its parent.
   */
  after(published: number): NamedResult | undefined {
    const nowMs = this.#dependencies.now();
    this.#waitingSinceMs ??= nowMs;
    const isPatient = nowMs - this.#waitingSinceMs < this.#options.patienceMs;
    if (isPatient && !this.#isVoteless) return undefined;
    if (this.#found !== undefined && this.#found.height > published) return this.#found;
    // A header names only heights below its own.
    this.#scanned = Math.max(this.#scanned, published + 1);
    for (;;) {
      const header = this.#dependencies.headerAt(this.#scanned + 1);
      if (header === undefined) return undefined;
      this.#scanned++;
      if (header.execHeight <= published) continue;
      this.#found = { height: header.execHeight, result: header.execResult };
      return this.#found;
    }
  }
}
