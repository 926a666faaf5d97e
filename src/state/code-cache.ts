import { readBigEndian } from "../base/big-endian.ts";
import { keccak256 } from "../crypto/keccak256.ts";
import { EMPTY_CODE, type AccountCode } from "./account.ts";
import { WordMap } from "./word-map.ts";

/**
 * One object per code, so that what is known of it (its jump targets) can hang on the object.
 * Two generations bound the memory: what is not asked for while one fills up is dropped.
 */
export class CodeCache {
  readonly #bytesMax: number;
  #young = new WordMap<AccountCode>();
  #old = new WordMap<AccountCode>();
  #youngSize = 0;

  /** At most twice `bytesMax` of code is held. */
  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  get(hash: bigint): AccountCode | undefined {
    const young = this.#young.get(hash);
    if (young !== undefined) return young;
    const old = this.#old.get(hash);
    if (old !== undefined) this.#keep(old);
    return old;
  }

  /** The object of the code with these bytes. */
  intern(bytes: Uint8Array): AccountCode {
    if (bytes.length === 0) return EMPTY_CODE;
    const hash = readBigEndian(keccak256(bytes), 0, 32);
    const known = this.get(hash);
    if (known !== undefined) return known;
    const code = { bytes, hash };
    this.#keep(code);
    return code;
  }

  #keep(code: AccountCode): void {
    if (this.#youngSize + code.bytes.length > this.#bytesMax) {
      this.#old = this.#young;
      this.#young = new WordMap();
      this.#youngSize = 0;
    }
    this.#young.set(code.hash, code);
    this.#youngSize += code.bytes.length;
  }
}
