/** For how long executable transactions have waited while nothing became final. */
export class PoolProgress {
  #height = 0;
  #executable = 0;
  /** When the chain last moved, or the first executable transaction came. */
  #sinceMs = 0;

  /** Called often: at every block and every tick. */
  note(nowMs: number, height: number, executable: number): void {
    const isIdle = this.#executable === 0;
    if (isIdle || height !== this.#height) this.#sinceMs = nowMs;
    this.#height = height;
    this.#executable = executable;
  }

  stalledMs(nowMs: number): number {
    return this.#executable === 0 ? 0 : Math.max(0, nowMs - this.#sinceMs);
  }
}
