/**
 * The page: its state comes from the address, its entries from the store, and user actions change
 * the address.
 */
import { createElement, createRow, filterButtons, searchedWords } from "./entry-rows.js";
import { Histogram } from "./histogram.js";
import { queryOf, readState, withChoice, withFilter, writeState } from "./page-state.js";
import { formatMoment, isRelative, localInputText, momentMs } from "./time-range.js";
import { RANGES, stepFor } from "./time-range.js";

const PAGE_SIZE = 100;
const ROWS_MAX = 2_000;
const BARS_MAX = 60;
const FACET_FIELDS = ["blockchain_id", "service_name", "level"];
/** While live, the counts follow more slowly than the rows. */
const CHART_INTERVAL_MS = 1_000;
const RETRY_MS = 1_000;

const $ = (id) => document.getElementById(id);

let state = readState(location.hash);
let lastSort;
let newestId = 0;
let generation = 0;
let news;
let isTailing = false;
let isTailDue = false;
let chartTimer;

const histogram = new Histogram($("histogram"), (fromMs, toMs) => {
  const iso = (timeMs) => new Date(timeMs).toISOString();
  change({ from: iso(fromMs), to: iso(Math.max(toMs, fromMs + 1)), isLive: false });
});

async function ask(path, body) {
  const response = await fetch(path, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  const text = await response.text();
  if (response.ok) return JSON.parse(text);
  let reason = text;
  try {
    reason = JSON.parse(text).error.reason;
  } catch {
    // The answer is a text already.
  }
  throw new Error(reason);
}

function shownTime() {
  const nowMs = Date.now();
  const toMs = momentMs(state.to, nowMs, nowMs);
  const fromMs = momentMs(state.from, nowMs, toMs - 900_000);
  return fromMs < toMs ? { fromMs, toMs } : { fromMs: toMs - 1, toMs };
}

function change(changes, { isReplaced = false } = {}) {
  state = { ...state, ...changes };
  const hash = writeState(state);
  if (hash !== location.hash) {
    if (isReplaced) history.replaceState(null, "", hash);
    else history.pushState(null, "", hash);
  }
  showState();
  void refresh();
}

function showState() {
  $("query").value = state.query;
  $("live").setAttribute("aria-pressed", String(state.isLive));
  const isCustom = !RANGES.some(([from]) => from === state.from) || state.to !== "now";
  $("range").value = isCustom ? "custom" : state.from;
  $("custom").hidden = !isCustom;
  $("back").hidden = !isCustom;
  const { fromMs, toMs } = shownTime();
  $("from").value = localInputText(fromMs);
  $("to").value = localInputText(toMs);
  for (const field of FACET_FIELDS) $(`facet-${field}`).value = chosenValue(field);
  showChips();
  if (state.isLive) listen();
  else stopListening();
}

function chosenValue(field) {
  return state.filters.find((one) => one.field === field && !one.isNegated)?.value ?? "";
}

function showChips() {
  const chips = state.filters
    .filter(({ field, isNegated }) => isNegated || !FACET_FIELDS.includes(field))
    .map((filter) => {
      const remove = createElement(
        "button",
        {
          type: "button",
          "aria-label": `Remove the filter by ${filter.field}`,
          onclick: () => change({ filters: state.filters.filter((one) => one !== filter) }),
        },
        "×",
      );
      const text = createElement("span", {}, `${filter.field}: ${filter.value}`);
      const names = filter.isNegated ? "chip is-negated" : "chip";
      return createElement("span", { class: names }, text, remove);
    });
  $("chips").replaceChildren(...chips);
}

/** All of what is shown, for the state as it is now. An answer that comes late is not shown. */
async function refresh() {
  const mine = ++generation;
  const view = shownTime();
  const query = queryOf(state, view.fromMs, view.toMs);
  try {
    const [found] = await Promise.all([
      ask("/api/search", { query, size: PAGE_SIZE, ...chartOf(view) }),
      showFacets(view, () => mine === generation),
      $("fields").open ? showFields(query) : undefined,
    ]);
    if (mine !== generation) return;
    $("problem").hidden = true;
    showChart(found, view);
    const { hits } = found.hits;
    newestId = hits.reduce((most, hit) => Math.max(most, Number(hit._id)), newestId);
    $("rows").replaceChildren(...hits.map((hit) => rowOf(hit, false)));
    lastSort = hits.at(-1)?.sort;
    $("more").hidden = hits.length < PAGE_SIZE;
  } catch (error) {
    if (mine === generation) showProblem(error);
  }
}

function chartOf({ fromMs, toMs }) {
  const step = stepFor(toMs - fromMs, BARS_MAX);
  return {
    aggs: {
      chart: {
        date_histogram: { field: "@timestamp", fixed_interval: step, min_doc_count: 1 },
        aggs: { levels: { terms: { field: "level", size: 10 } } },
      },
    },
  };
}

function showChart(found, view) {
  const { value } = found.hits.total;
  $("total").textContent = value === 1 ? "1 entry" : `${value.toLocaleString("en")} entries`;
  $("span").textContent = `${formatMoment(view.fromMs)} – ${formatMoment(view.toMs)}`;
  $("empty").hidden = value > 0;
  const step = stepFor(view.toMs - view.fromMs, BARS_MAX);
  histogram.show({ ...view, step, buckets: found.aggregations.chart.buckets });
}

/** The offered values depend on the time range only, so that a choice can be changed. */
async function showFacets({ fromMs, toMs }, isCurrent) {
  const query = { range: { "@timestamp": { gte: fromMs, lte: toMs } } };
  const terms = FACET_FIELDS.map((field) => [field, { terms: { field, size: 100 } }]);
  const body = { query, size: 0, track_total_hits: false, aggs: Object.fromEntries(terms) };
  const { aggregations } = await ask("/api/search", body);
  if (!isCurrent()) return;
  for (const field of FACET_FIELDS) showFacet(field, aggregations[field].buckets);
}

function showFacet(field, buckets) {
  const chosen = chosenValue(field);
  const options = buckets.map(({ key, doc_count: count }) => [key, `${key} (${count})`]);
  if (chosen !== "" && !options.some(([key]) => key === chosen)) {
    options.push([chosen, `${chosen} (0)`]);
  }
  const select = $(`facet-${field}`);
  select.replaceChildren(
    ...[["", "all"], ...options].map(([value, text]) => createElement("option", { value }, text)),
  );
  select.value = chosen;
}

async function showFields(query) {
  const { fields } = await ask("/api/fields", { query });
  const items = Object.entries(fields).map(([field, count]) => {
    const button = createElement("button", { type: "button" }, `${field} (${count})`);
    const item = createElement("li", {}, button);
    button.addEventListener("click", () => void toggleValues(item, field, query));
    return item;
  });
  $("field-list").replaceChildren(...items);
}

async function toggleValues(item, field, query) {
  const shown = item.querySelectorAll(".value");
  if (shown.length > 0) {
    for (const one of shown) one.remove();
    return;
  }
  const aggs = { values: { terms: { field, size: 8 } } };
  const { aggregations } = await ask("/api/search", { query, size: 0, aggs });
  for (const { key, doc_count: count } of aggregations.values.buckets) {
    const text = createElement("span", {}, key.slice(0, 120));
    const amount = createElement("em", {}, String(count));
    item.append(
      createElement(
        "div",
        { class: "value" },
        text,
        amount,
        ...filterButtons(field, key, onFilter),
      ),
    );
  }
}

async function showMore() {
  const { fromMs, toMs } = shownTime();
  const query = queryOf(state, fromMs, toMs);
  const body = { query, size: PAGE_SIZE, search_after: lastSort, track_total_hits: false };
  try {
    const { hits } = (await ask("/api/search", body)).hits;
    $("rows").append(...hits.map((hit) => rowOf(hit, false)));
    lastSort = hits.at(-1)?.sort ?? lastSort;
    $("more").hidden = hits.length < PAGE_SIZE || $("rows").childElementCount >= ROWS_MAX;
  } catch (error) {
    showProblem(error);
  }
}

function listen() {
  if (news !== undefined) return;
  news = new EventSource("/api/news");
  news.addEventListener("message", () => void tail());
}

function stopListening() {
  news?.close();
  news = undefined;
}

/** What has come since the newest entry that is shown, in the order of arrival. */
async function tail() {
  if (isTailing) {
    isTailDue = true;
    return;
  }
  isTailing = true;
  const mine = generation;
  const { fromMs } = shownTime();
  const query = queryOf(state, fromMs, Date.now() + 3_600_000);
  query.bool.filter.push({ range: { _id: { gt: newestId } } });
  try {
    const body = { query, size: PAGE_SIZE, sort: [{ _id: "desc" }], track_total_hits: false };
    const { hits } = (await ask("/api/search", body)).hits;
    if (mine === generation && hits.length > 0) showNew(hits);
  } catch (error) {
    showProblem(error);
    await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
  }
  isTailing = false;
  if (!isTailDue) return;
  isTailDue = false;
  void tail();
}

function showNew(found) {
  // A refresh may have shown some of them meanwhile.
  const hits = found.filter((hit) => Number(hit._id) > newestId);
  newestId = Math.max(newestId, ...hits.map((hit) => Number(hit._id)));
  $("rows").prepend(...hits.map((hit) => rowOf(hit, true)));
  while ($("rows").childElementCount > ROWS_MAX) $("rows").lastElementChild.remove();
  $("empty").hidden = true;
  chartTimer ??= setTimeout(() => void followChart(), CHART_INTERVAL_MS);
}

async function followChart() {
  chartTimer = undefined;
  const mine = generation;
  const view = shownTime();
  const query = queryOf(state, view.fromMs, view.toMs);
  try {
    const found = await ask("/api/search", { query, size: 0, ...chartOf(view) });
    await showFacets(view, () => mine === generation);
    if (mine === generation) showChart(found, view);
  } catch (error) {
    showProblem(error);
  }
}

function rowOf(hit, isNew) {
  return createRow(hit, { words: searchedWords(state.query), onFilter, isNew });
}

function onFilter(filter) {
  change({ filters: withFilter(state.filters, filter) });
}

function showProblem(error) {
  $("problem").textContent = error instanceof Error ? error.message : String(error);
  $("problem").hidden = false;
}

function setTheme(theme) {
  document.documentElement.dataset.theme = theme;
}

function start() {
  const prefersDark = matchMedia("(prefers-color-scheme: dark)").matches;
  setTheme(localStorage.getItem("theme") ?? (prefersDark ? "dark" : "light"));
  for (const [value, text] of [...RANGES, ["custom", "Custom…"]]) {
    $("range").append(createElement("option", { value }, text));
  }
  $("fields").open = matchMedia("(min-width: 761px)").matches;
  $("search").addEventListener("submit", (event) => {
    event.preventDefault();
    change({ query: $("query").value });
  });
  $("range").addEventListener("change", () => {
    if ($("range").value === "custom") $("custom").hidden = false;
    else change({ from: $("range").value, to: "now" });
  });
  $("apply").addEventListener("click", () => {
    const [from, to] = [$("from"), $("to")].map(({ value }) => Date.parse(value));
    if (Number.isNaN(from) || Number.isNaN(to)) return;
    const iso = (timeMs) => new Date(timeMs).toISOString();
    change({ from: iso(from), to: iso(to), isLive: false });
  });
  $("back").addEventListener("click", () => change({ from: "now-15m", to: "now" }));
  for (const field of FACET_FIELDS) {
    const select = $(`facet-${field}`);
    select.addEventListener("change", () => {
      change({ filters: withChoice(state.filters, field, select.value) });
    });
  }
  $("live").addEventListener("click", () => {
    const range =
      isRelative(state.from) && state.to === "now" ? {} : { from: "now-15m", to: "now" };
    change({ isLive: !state.isLive, ...(state.isLive ? {} : range) });
  });
  $("theme").addEventListener("click", () => {
    const theme = document.documentElement.dataset.theme === "dark" ? "light" : "dark";
    localStorage.setItem("theme", theme);
    setTheme(theme);
  });
  $("share").addEventListener("click", () => void navigator.clipboard?.writeText(location.href));
  $("more").addEventListener("click", () => void showMore());
  $("fields").addEventListener("toggle", () => {
    const { fromMs, toMs } = shownTime();
    if ($("fields").open) void showFields(queryOf(state, fromMs, toMs));
  });
  addEventListener("popstate", () => {
    state = readState(location.hash);
    showState();
    void refresh();
  });
  change({}, { isReplaced: true });
}

start();
