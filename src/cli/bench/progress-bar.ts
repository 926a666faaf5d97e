/** How far a long run is: a bar drawn over on a terminal, a line for each tenth elsewhere. */
const WIDTH = 24;
const LINE_START = "\r\u001b[K";
const REDRAW_MS = 100;

export type ProgressBar = {
  /** `share` is 0 to 1. */
  show(share: number, text: string): void;
  /** Leaves nothing of the bar behind. */
  end(): void;
};

export function createProgressBar(
  write: (text: string) => void,
  { isTerminal, title }: { readonly isTerminal: boolean; readonly title: string },
  nowMs: () => number = () => performance.now(),
): ProgressBar {
  let shownMs = Number.NEGATIVE_INFINITY;
  let tenth = 0;
  return {
    show(share, text) {
      const percent = `${Math.floor(100 * share)}%`.padStart(4);
      if (isTerminal) {
        if (nowMs() - shownMs < REDRAW_MS && share < 1) return;
        shownMs = nowMs();
        const filled = Math.round(WIDTH * Math.min(1, share));
        const bar = "#".repeat(filled).padEnd(WIDTH, ".");
        write(`${LINE_START}${title} [${bar}]${percent}  ${text}`);
        return;
      }
      if (Math.floor(10 * share) <= tenth) return;
      tenth = Math.floor(10 * share);
      write(`${title}${percent}  ${text}\n`);
    },
    end() {
      if (isTerminal) write(LINE_START);
    },
  };
}
