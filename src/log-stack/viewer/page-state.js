/**
 * What the page shows. All of it is in the address, after the `#`, so that a link shows the same:
 * #/?from=now-15m&to=now&query=words&filter=%2Bservice_name%3Dreplica-0&live=1
 */
const DEFAULT_STATE = { from: "now-15m", to: "now", query: "", filters: [], isLive: false };
const FILTERS_MAX = 32;

export function readState(hash) {
  const values = new URLSearchParams(hash.replace(/^#\/?\??/, ""));
  return {
    from: values.get("from") ?? DEFAULT_STATE.from,
    to: values.get("to") ?? DEFAULT_STATE.to,
    query: values.get("query") ?? "",
    filters: values.getAll("filter").slice(0, FILTERS_MAX).flatMap(readFilter),
    isLive: values.get("live") === "1",
  };
}

export function writeState(state) {
  const values = new URLSearchParams({ from: state.from, to: state.to });
  if (state.query !== "") values.set("query", state.query);
  for (const { field, value, isNegated } of state.filters) {
    values.append("filter", `${isNegated ? "-" : "+"}${encodeURIComponent(field)}=${value}`);
  }
  if (state.isLive) values.set("live", "1");
  return `#/?${values}`;
}

/** What the read endpoint is asked for. */
export function queryOf(state, fromMs, toMs) {
  const terms = (isNegated) =>
    state.filters
      .filter((filter) => filter.isNegated === isNegated)
      .map(({ field, value }) => ({ term: { [field]: value } }));
  const text = state.query.trim();
  const words = { query_string: { query: text, default_operator: "AND" } };
  return {
    bool: {
      filter: [
        { range: { "@timestamp": { gte: fromMs, lte: toMs } } },
        ...terms(false),
        ...(text === "" ? [] : [words]),
      ],
      must_not: terms(true),
    },
  };
}

/** One positive filter by a field, or none. */
export function withChoice(filters, field, value) {
  const others = filters.filter((filter) => filter.field !== field || filter.isNegated);
  return value === "" ? others : [...others, { field, value, isNegated: false }];
}

export function withFilter(filters, added) {
  const others = filters.filter(
    ({ field, value }) => field !== added.field || value !== added.value,
  );
  return [...others, added].slice(-FILTERS_MAX);
}

function readFilter(text) {
  const match = /^([+-])([^=]+)=(.*)$/s.exec(text);
  if (match === null) return [];
  try {
    const field = decodeURIComponent(match[2]);
    return [{ field, value: match[3], isNegated: match[1] === "-" }];
  } catch {
    return [];
  }
}
