/** Columns for people; numbers stand at the right. */
export function textTable(
  heads: readonly string[],
  rows: readonly (readonly string[])[],
): readonly string[] {
  const widths = heads.map((head, column) =>
    Math.max(head.length, ...rows.map((row) => row[column]?.length ?? 0)),
  );
  const line = (cells: readonly string[], isHead: boolean): string =>
    widths
      .map((width, column) => {
        const cell = cells[column] ?? "";
        const isNumber = !isHead && /^[0-9]+$/.test(cell);
        return isNumber ? cell.padStart(width) : cell.padEnd(width);
      })
      .join("  ")
      .trimEnd();
  return [line(heads, true), ...rows.map((row) => line(row, false))];
}
