import type { SearchPage, SearchRun } from "../../../foundation/contracts/search.ts";
import { counted } from "../../../foundation/contracts/format.ts";
import { onPress } from "./actions.ts";
import { fetchJson } from "./api.ts";
import { byId, setText, showText } from "./dom.ts";
import { addressOf, createFilters, offerAgents } from "./filters.ts";
import { exactTime } from "./format.ts";
import { searchResult } from "./search-result.ts";
import { openStatusStream } from "./site.ts";

const filters = createFilters(["q", "agent", "outcome", "kind", "since", "order"]);
const sinceMs: Readonly<Partial<Record<string, number>>> = {
  "1h": 3_600_000,
  "24h": 86_400_000,
  "7d": 7 * 86_400_000,
  "30d": 30 * 86_400_000,
};
/** An index that is this far behind shows that in its page. */
const behindMs = 60_000;
/** Pages without a run that are asked for in a row. */
const emptyPages = 10;

let runs: readonly SearchRun[] = [];
let next: string | null = null;
let searches = 0;

/** Searches what the address asks for; a response to an earlier search is dropped. */
async function search(): Promise<void> {
  searches += 1;
  const view = filters.ofAddress();
  filters.show(view);
  runs = [];
  next = null;
  byId("results").replaceChildren();
  showText("search-error", null);
  showText("search-behind", null);
  const isEmpty = (view.filters.q ?? "") === "";
  showFound(
    isEmpty ? "The logs of all agents are searched, and the scheduler's own." : "Searching …",
  );
  if (!isEmpty) await readMore();
}

/** Shows the next page of runs. A page may be empty and have a next one. */
async function readMore(): Promise<void> {
  const own = searches;
  const words = filters.ofAddress().filters.q ?? "";
  let found = 0;
  for (let pages = 0; pages < emptyPages && found === 0; pages++) {
    const fetched = await fetchJson<SearchPage>(pagePath());
    if (own !== searches) return;
    if (!fetched.ok) {
      showText("search-error", fetched.detail);
      return showFound("");
    }
    const page = fetched.value;
    found = page.runs.length;
    runs = [...runs, ...page.runs];
    next = page.next;
    byId("results").append(...page.runs.map((run) => searchResult(run, words)));
    showBehind(page.indexedUntil);
    if (next === null) break;
  }
  showFound(noneText());
}

function showFound(none: string): void {
  const isMore = next !== null;
  setText(
    byId("total"),
    runs.length === 0 ? "" : `${counted(runs.length, "run")}${isMore ? " so far" : ""}`,
  );
  showText("none", runs.length > 0 ? null : none);
  byId("search-pager").hidden = !isMore;
}

function noneText(): string {
  if (next !== null) return "Nothing found so far: the rest of the logs is searched on demand.";
  const isFiltered = Object.keys(filters.ofAddress().filters).some(
    (name) => name !== "q" && name !== "order",
  );
  return isFiltered ? "No lines match with these filters." : "No lines match.";
}

function showBehind(indexedUntil: string | null): void {
  const until = indexedUntil === null ? null : Date.parse(indexedUntil);
  const isBehind = until === null || Date.now() - until > behindMs;
  const how =
    until === null
      ? "None are searched yet."
      : `Lines after ${exactTime(until)} are not searched yet.`;
  showText("search-behind", isBehind ? `The logs are still being indexed. ${how}` : null);
}

function pagePath(): string {
  const { since, ...rest } = filters.ofAddress().filters;
  const query = new URLSearchParams(rest);
  if (since !== undefined) {
    const ms = sinceMs[since];
    query.set("since", ms === undefined ? since : new Date(Date.now() - ms).toISOString());
  }
  if (next !== null) query.set("before", next);
  return `/api/search?${query.toString()}`;
}

/** The address has what is searched for: a reload and the way back find it again. */
function followForm(): void {
  const address = addressOf({ filters: filters.ofForm(), before: "" });
  if (address === location.pathname + location.search) return;
  history.replaceState(null, "", address);
  void search();
}

/** A link may ask for a time of its own. */
function offerSince(): void {
  const { since } = filters.ofAddress().filters;
  if (since === undefined || sinceMs[since] !== undefined) return;
  const at = Date.parse(since);
  const text = Number.isNaN(at) ? since : `Since ${exactTime(at)}`;
  const field = form.elements.namedItem("since");
  if (field instanceof HTMLSelectElement) field.add(new Option(text, since));
}

const form = byId("filters", HTMLFormElement);
form.addEventListener("submit", (event) => {
  event.preventDefault();
  followForm();
});
form.addEventListener("change", followForm);
form.addEventListener("reset", (event) => {
  event.preventDefault();
  const { q = "" } = filters.ofForm();
  filters.show({ filters: q === "" ? {} : { q }, before: "" });
  followForm();
});
onPress(byId("more"), readMore);
offerSince();
void search();
openStatusStream("Search", {
  snapshot: ({ agents }) => offerAgents(agents),
  update: () => undefined,
});
