/** Finds what a text cites and whether the repository has it. */

export type Known = {
  /** Clauses of docs/SPEC.md: `E13`. */
  readonly spec: ReadonlySet<string>;
  /** Sections and clauses of docs/PROTOCOL.md: `5`, `5.1`. */
  readonly protocol: ReadonlySet<string>;
  /** Numbers of decision records: `0004`. */
  readonly records: ReadonlySet<string>;
  /** File names of documents. */
  readonly documents: ReadonlySet<string>;
};

const SPEC_ID = "[NPDEALO]\\d+b?\\b";
/** One clause or several: `SPEC E3, E4`, `SPEC P8-P10`, `SPEC P12 and P13`. */
const SPEC_CITATION = new RegExp(`\\bSPEC (${SPEC_ID}(?:(?:, |-| and |/)${SPEC_ID})*)`, "g");
/** A bare § is one of PROTOCOL. Other standards are named in front of theirs. */
const PROTOCOL_CITATION = /(?<!\b(?:RFC|EIP|ERC)[- ]?\d+,? (?:and )?)§ ?(\d+(?:\.\d+)?)/g;
const RECORD_CITATION = /\b(?:ADR |adr\/)(\d{4})\b/g;
/** `docs/ethrpc.md`, `PROTOCOL.md`, and a word in capitals with a section: `PROTOCOL §5`. */
const DOCUMENT_FILE = /(?<![\w*.-])(?:[\w.-]+\/)*([\w-]+\.md)\b/g;
const DOCUMENT_WORD = /\b([A-Z]{4,}) (?:§|")/g;
/** Words in capitals before a quotation that name no document. */
const WORDS = new Set(["HEALTHCHECK", "ENTRYPOINT", "DEFAULT", "PRAGMA", "MATCH", "LABEL", "LIKE"]);

export function specIds(text: string): Set<string> {
  return new Set(
    Array.from(text.matchAll(/^(?:- |\| )\*\*([NPDEALO]\d+b?)\*\*/gm), ([, id]) => id ?? ""),
  );
}

export function protocolClauses(text: string): Set<string> {
  const found = text.matchAll(/^(?:#{2,3} |- \*\*)(\d+(?:\.\d+)?)\b/gm);
  return new Set(Array.from(found, ([, clause]) => clause ?? ""));
}

/** One line for each citation that leads nowhere: `12: no clause E99 in docs/SPEC.md`. */
export function citationProblems(text: string, known: Known): string[] {
  return text
    .split("\n")
    .flatMap((line, index) => [
      ...new Set(lineProblems(line, known).map((problem) => `${index + 1}: ${problem}`)),
    ]);
}

function lineProblems(line: string, known: Known): string[] {
  const spec = all(line, SPEC_CITATION)
    .flatMap((list) => list.split(/, |-| and |\//))
    .filter((id) => !known.spec.has(id))
    .map((id) => `no clause ${id} in docs/SPEC.md`);
  const protocol = all(line, PROTOCOL_CITATION)
    .filter((clause) => !known.protocol.has(clause))
    .map((clause) => `no clause §${clause} in docs/PROTOCOL.md`);
  const records = all(line, RECORD_CITATION)
    .filter((number) => !known.records.has(number))
    .map((number) => `no decision record ${number} in docs/adr`);
  const words = all(line, DOCUMENT_WORD).filter((word) => !WORDS.has(word));
  const documents = [...all(line, DOCUMENT_FILE), ...words.map((word) => `${word}.md`)]
    .filter((name) => !known.documents.has(name))
    .map((name) => `no document ${name}`);
  return [...spec, ...protocol, ...records, ...documents];
}

function all(line: string, pattern: RegExp): string[] {
  return Array.from(line.matchAll(pattern), (match) => match[1] ?? "");
}
