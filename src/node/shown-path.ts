import path from "node:path";

/** The path as the user would write it. */
export function shownPath(file: string): string {
  const relative = path.relative(process.cwd(), file);
  return relative === "" || relative.startsWith("..") ? file : relative;
}
