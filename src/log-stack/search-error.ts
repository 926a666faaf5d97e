/** A request to the read endpoint that is wrong: answered in the real store's form. */
export class SearchError extends Error {
  override readonly name = "SearchError";
  readonly status: number;
  readonly type: string;

  constructor(message: string, status = 400, type = "parsing_exception") {
    super(message);
    this.status = status;
    this.type = type;
  }
}

export function errorBody(
  type: string,
  reason: string,
  status: number,
): Readonly<Record<string, unknown>> {
  return { error: { root_cause: [{ type, reason }], type, reason }, status };
}
