/** What is wrong with a configuration, and where. All problems are reported at once. */
export type ConfigProblem = {
  /** A path in the file such as `genesis.chainId`, or a flag or variable by its name. */
  readonly path: string;
  /** Continues the path: `must be ...`, `is not known`, `is missing`. */
  readonly message: string;
};

export function problemText({ path, message }: ConfigProblem): string {
  return path === "" ? message : `${path} ${message}`;
}
