/**
 * Nonces that are valid once and for a short time. An issued nonce costs no memory: it carries its
 * own expiry and a MAC that only this process can compute. Only used ones are remembered, until
 * they would have expired anyway.
 */
import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";

export type NonceOptions = { readonly lifetimeMs: number; readonly usedMax: number };

export type NonceVerdict = "good" | "unknown" | "expired" | "used" | "full";

const TIME_BYTES = 6;
const RANDOM_BYTES = 10;
const CODE_BYTES = 16;
const TEXT_LENGTH = 2 * (TIME_BYTES + RANDOM_BYTES + CODE_BYTES);

export class Nonces {
  readonly #options: NonceOptions;
  readonly #secret = randomBytes(32);
  /** Used ones and when they end, in the order of their use. */
  readonly #used = new Map<string, number>();

  constructor(options: NonceOptions) {
    this.#options = options;
  }

  get usedCount(): number {
    return this.#used.size;
  }

  create(nowMs: number): string {
    const content = Buffer.alloc(TIME_BYTES + RANDOM_BYTES);
    content.writeUIntBE(Math.floor(nowMs) + this.#options.lifetimeMs, 0, TIME_BYTES);
    randomBytes(RANDOM_BYTES).copy(content, TIME_BYTES);
    return content.toString("hex") + this.#code(content).toString("hex");
  }

  /** Whether the nonce may be used now. It stays unused. */
  check(nonce: string, nowMs: number): NonceVerdict {
    // Only one spelling is valid: otherwise the same nonce could be used again in another one.
    if (nonce.length !== TEXT_LENGTH || !/^[0-9a-f]+$/.test(nonce)) return "unknown";
    const bytes = Buffer.from(nonce, "hex");
    const content = bytes.subarray(0, TIME_BYTES + RANDOM_BYTES);
    if (!timingSafeEqual(this.#code(content), bytes.subarray(content.length))) return "unknown";
    if (content.readUIntBE(0, TIME_BYTES) <= nowMs) return "expired";
    return this.#used.has(nonce) ? "used" : "good";
  }

  /** Uses the nonce up if it is good. When too many were used lately, none is until some end. */
  use(nonce: string, nowMs: number): NonceVerdict {
    const verdict = this.check(nonce, nowMs);
    if (verdict !== "good") return verdict;
    if (this.#used.size >= this.#options.usedMax) this.#forgetEnded(nowMs);
    if (this.#used.size >= this.#options.usedMax) return "full";
    const endMs = Buffer.from(nonce.slice(0, 2 * TIME_BYTES), "hex").readUIntBE(0, TIME_BYTES);
    this.#used.set(nonce, endMs);
    return "good";
  }

  #forgetEnded(nowMs: number): void {
    for (const [nonce, endMs] of this.#used) if (endMs <= nowMs) this.#used.delete(nonce);
  }

  #code(content: Uint8Array): Buffer {
    return createHmac("sha256", this.#secret).update(content).digest().subarray(0, CODE_BYTES);
  }
}
