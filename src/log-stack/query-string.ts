/**
 * What people type into the search box, and `query_string` of the read endpoint:
 *
 *   words "a phrase" prefix*  field:value  field:"a phrase"  field:prefix*  field:*  field:(a OR b)
 *   field:[a TO b] field:{a TO b}  field:>=5  AND OR NOT  + -  parentheses  \ before a sign
 *
 * AND binds more tightly than OR. Words next to each other are joined as the caller says.
 */
import { type QueryToken, tokenizeQueryString } from "./query-string-tokens.ts";
import { SearchError } from "./search-error.ts";
import type { Query } from "./query.ts";

type Joining = "every" | "some";
type Clause = { readonly query: Query; readonly mark: "+" | "-" | undefined };

const DEPTH_MAX = 20;

export function parseQueryString(text: string, joining: Joining): Query {
  const tokens = tokenizeQueryString(text);
  if (tokens.length === 0) return { kind: "all" };
  const reader = new Reader(tokens, joining);
  const query = reader.readGroup(undefined, 0);
  if (!reader.isAtEnd) throw new SearchError("query_string: a closing bracket has no opening one");
  return query;
}

class Reader {
  readonly #tokens: readonly QueryToken[];
  readonly #joining: Joining;
  #position = 0;

  constructor(tokens: readonly QueryToken[], joining: Joining) {
    this.#tokens = tokens;
    this.#joining = joining;
  }

  get isAtEnd(): boolean {
    return this.#position === this.#tokens.length;
  }

  /** Clauses up to the end or the closing bracket. */
  readGroup(field: string | undefined, depth: number): Query {
    if (depth > DEPTH_MAX) throw new SearchError("query_string: brackets are nested too deep");
    const group = new Group();
    for (let token = this.#peek(); token !== undefined && token !== ")"; token = this.#peek()) {
      const joint = token === "AND" || token === "OR" ? token : undefined;
      if (joint !== undefined) this.#position += 1;
      const isAnd = joint === "AND" || (joint === undefined && this.#joining === "every");
      const clause = this.#readClause(field, depth);
      if (isAnd) group.addToLast(clause);
      else if (joint === undefined && clause.mark !== undefined) group.require(clause);
      else group.addAlternative(clause);
    }
    return group.query();
  }

  #readClause(field: string | undefined, depth: number): Clause {
    const token = this.#take();
    if (token === "NOT" || token === "-") {
      const { query } = this.#readClause(field, depth);
      return { query: { kind: "not", query }, mark: "-" };
    }
    if (token === "+") return { query: this.#readClause(field, depth).query, mark: "+" };
    if (token === "(") {
      const query = this.readGroup(field, depth + 1);
      if (this.isAtEnd) throw new SearchError("query_string: a bracket is not closed");
      this.#position += 1;
      return { query, mark: undefined };
    }
    if (typeof token === "string") {
      throw new SearchError(`query_string: [${token}] stands where a word is needed`);
    }
    if (token.kind === "field") {
      return { query: this.#readClause(token.name, depth).query, mark: undefined };
    }
    return { query: queryOf(token, field), mark: undefined };
  }

  #peek(): QueryToken | undefined {
    return this.#tokens[this.#position];
  }

  #take(): QueryToken {
    const token = this.#tokens[this.#position];
    if (token === undefined) throw new SearchError("query_string: something is missing at the end");
    this.#position += 1;
    return token;
  }
}

/** Alternatives, each a list of clauses that hold together, and what must hold in any case. */
class Group {
  readonly #required: Clause[] = [];
  readonly #alternatives: Query[][] = [];

  require(clause: Clause): void {
    this.#required.push(clause);
  }

  addAlternative({ query }: Clause): void {
    this.#alternatives.push([query]);
  }

  addToLast(clause: Clause): void {
    const last = this.#alternatives.at(-1);
    if (last !== undefined) last.push(clause.query);
    else if (this.#required.length > 0) this.#required.push(clause);
    else this.addAlternative(clause);
  }

  query(): Query {
    const options = this.#alternatives.map((queries): Query => ({ kind: "every", queries }));
    // Beside something that is asked for with `+`, the rest only ranks; nothing is ranked here.
    const isOptional = options.length === 0 || this.#required.some(({ mark }) => mark === "+");
    const chosen: Query[] = isOptional ? [] : [{ kind: "some", queries: options, countMin: 1 }];
    return { kind: "every", queries: [...this.#required.map(({ query }) => query), ...chosen] };
  }
}

function queryOf(
  token: Exclude<QueryToken, string | { readonly kind: "field" }>,
  field: string | undefined,
): Query {
  switch (token.kind) {
    case "range":
      if (field === undefined) throw new SearchError("query_string: a range needs a field");
      return { kind: "range", field, bounds: token.bounds };
    case "phrase":
      return { kind: "words", field, text: token.text, mode: "phrase" };
    case "word":
      if (token.isPrefix && token.text === "") {
        return field === undefined ? { kind: "all" } : { kind: "exists", field };
      }
      if (field === "_exists_") return { kind: "exists", field: token.text };
      return { kind: "words", field, text: token.text, mode: token.isPrefix ? "prefix" : "phrase" };
  }
}
