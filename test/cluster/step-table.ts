/** The steps of the run, with what came of them. */
export type Step = {
  readonly name: string;
  readonly isPassed: boolean;
  readonly seconds: number;
  readonly note: string;
};

export class StepTable {
  readonly steps: Step[] = [];

  /** Runs one step and says whether it passed. What failed is shown in full at once. */
  async step(name: string, work: () => Promise<string> | string): Promise<boolean> {
    process.stdout.write(`.. ${name}\n`);
    const startedMs = performance.now();
    const seconds = (): number => (performance.now() - startedMs) / 1000;
    try {
      const note = await work();
      this.#add({ name, isPassed: true, seconds: seconds(), note });
      return true;
    } catch (error) {
      console.error(error);
      const note = error instanceof Error ? error.message : String(error);
      this.#add({ name, isPassed: false, seconds: seconds(), note: note.split("\n")[0] ?? "" });
      return false;
    }
  }

  text(): string {
    const rows = this.steps.map(({ name, isPassed, seconds, note }) => [
      name,
      isPassed ? "pass" : "FAIL",
      seconds.toFixed(1),
      note,
    ]);
    const table = [["step", "result", "seconds", "note"], ...rows];
    const widths = [0, 1, 2, 3].map((at) => Math.max(...table.map((row) => row[at]?.length ?? 0)));
    const line = (row: readonly string[]): string =>
      `| ${row.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join(" | ")} |`;
    const rule = `| ${widths.map((width) => "-".repeat(width)).join(" | ")} |`;
    const [head = [], ...body] = table;
    return [line(head), rule, ...body.map(line)].join("\n");
  }

  #add(step: Step): void {
    this.steps.push(step);
    const { name, isPassed, seconds, note } = step;
    process.stdout.write(
      `${isPassed ? "ok" : "FAILED"} ${name} (${seconds.toFixed(1)} s) ${note}\n`,
    );
  }
}
