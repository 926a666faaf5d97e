/** Where a command writes: results to stdout, everything else to stderr (both for people). */
export type Terminal = {
  readonly isInteractive: boolean;
  readonly hasColour: boolean;
  result(line: string): void;
  note(line: string): void;
};

type Streams = { readonly stdout: NodeJS.WriteStream; readonly stderr: NodeJS.WriteStream };

export function createTerminal(
  { stdout, stderr }: Streams,
  environment: Readonly<Record<string, string | undefined>>,
): Terminal {
  const isInteractive = stdout.isTTY;
  return {
    isInteractive,
    // https://no-color.org
    hasColour: isInteractive && (environment["NO_COLOR"] ?? "") === "",
    result: (line) => void stdout.write(`${line}\n`),
    note: (line) => void stderr.write(`${line}\n`),
  };
}

const BOLD = 1;
const DIM = 2;
const RED = 31;
const YELLOW = 33;
const CODES = { bold: BOLD, dim: DIM, red: RED, yellow: YELLOW } as const;

export function paint(
  { hasColour }: Pick<Terminal, "hasColour">,
  style: keyof typeof CODES,
  text: string,
): string {
  return hasColour ? `\u001b[${CODES[style]}m${text}\u001b[0m` : text;
}
