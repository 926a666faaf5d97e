/** Entries as rows. Every text is set as text: what stands in a log is never markup. */
import { formatMoment } from "./time-range.js";

/** Shown in the row itself, or the same in every entry. */
const PLACED = new Set([
  ...["@timestamp", "@version", "level", "service_name", "message", "data_stream"],
  ...["blockchain_id", "node_id", "logger"],
]);
const LEVELS = new Set(["debug", "info", "warn", "error"]);
const HEAD_LENGTH_MAX = 600;

export function createElement(name, attributes = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key === "onclick") element.addEventListener("click", value);
    else element.setAttribute(key, value);
  }
  element.append(...children);
  return element;
}

export function createRow(hit, { words, onFilter, isNew }) {
  const source = hit._source;
  const timeMs = Date.parse(source["@timestamp"]);
  const level = textOf(source.level);
  const name = LEVELS.has(level) ? level : "other";
  const data = Object.entries(source)
    .filter(([field]) => !PLACED.has(field))
    .map(([field, value]) => `${field}=${textOf(value)}`);
  const text = createElement("span", { class: "text" });
  text.append(...marked(textOf(source.message).slice(0, HEAD_LENGTH_MAX), words));
  const rest = createElement("span", { class: "data" });
  rest.append(" ", ...marked(data.join(" ").slice(0, HEAD_LENGTH_MAX), words));
  text.append(rest);
  const head = createElement(
    "button",
    { class: "head", type: "button", "aria-expanded": "false" },
    createElement("time", { datetime: source["@timestamp"] }, formatMoment(timeMs, true)),
    createElement("span", { class: `badge badge-${name}` }, level === "" ? "–" : level),
    createElement("span", { class: "service" }, textOf(source.service_name)),
    text,
  );
  const row = createElement(
    "li",
    { class: isNew ? "row is-new" : "row", "data-id": hit._id },
    head,
  );
  head.addEventListener("click", () => {
    const isOpen = head.getAttribute("aria-expanded") === "true";
    head.setAttribute("aria-expanded", String(!isOpen));
    if (isOpen) row.querySelector(".details").remove();
    else row.append(createDetails(hit, onFilter));
  });
  return row;
}

function createDetails(hit, onFilter) {
  const body = createElement("tbody");
  const entries = Object.entries({ _id: hit._id, ...hit._source });
  entries.sort(([a], [b]) => (a < b ? -1 : 1));
  for (const [field, value] of entries) {
    const scalars = Array.isArray(value) ? value : [value];
    const [first] = scalars;
    const actions = createElement("td", { class: "actions" });
    const canFilter =
      field !== "@timestamp" && ["string", "number", "boolean"].includes(typeof first);
    if (canFilter) actions.append(...filterButtons(field, String(first), onFilter));
    const held = createElement("td", { class: "held" }, textOf(value));
    body.append(createElement("tr", {}, createElement("th", {}, field), held, actions));
  }
  const copy = createElement(
    "button",
    {
      type: "button",
      class: "small",
      onclick: () => void navigator.clipboard?.writeText(JSON.stringify(hit._source, null, 2)),
    },
    "Copy as JSON",
  );
  return createElement("div", { class: "details" }, createElement("table", {}, body), copy);
}

export function filterButtons(field, value, onFilter) {
  const button = (sign, isNegated, hint) =>
    createElement(
      "button",
      {
        type: "button",
        class: "small",
        "aria-label": `${hint} ${field} ${value.slice(0, 80)}`,
        onclick: () => onFilter({ field, value, isNegated }),
      },
      sign,
    );
  return [button("+", false, "Only with"), button("−", true, "Without")];
}

export function textOf(value) {
  if (value === undefined || value === null) return "";
  return typeof value === "string" ? value : JSON.stringify(value);
}

/** Words of the search, for highlighting; operators and fields are left out. */
export function searchedWords(query) {
  const words = query
    .replace(/\b(AND|OR|NOT|TO)\b/g, " ")
    .split(/[\s"()[\]{}]+/)
    .filter((word) => !word.startsWith("-"))
    .map((word) =>
      word
        .replace(/^[^:]*:/, "")
        .replace(/\*$/, "")
        .toLowerCase(),
    )
    .filter((word) => word.length > 1);
  return [...new Set(words)].slice(0, 16);
}

function marked(text, words) {
  if (words.length === 0) return [text];
  const escaped = words.map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  const parts = text.split(new RegExp(`(${escaped.join("|")})`, "gi"));
  return parts.map((part, index) => (index % 2 === 1 ? createElement("mark", {}, part) : part));
}
