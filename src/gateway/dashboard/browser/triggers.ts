import type { HistoryEntry, HistoryPage } from "../../../contracts/history.ts";
import type { StatusSnapshot } from "../../../../streams/status/wire.ts";
import { counted } from "../../../contracts/format.ts";
import { showToast } from "./actions.ts";
import { fetchJson } from "./api.ts";
import { byId, setAttribute, setText, showText } from "./dom.ts";
import { eachSecond, openStatusStream, showScheduler } from "./site.ts";
import { soonOnce } from "./soon-once.ts";
import {
  addressOf,
  filtersOfForm,
  queryOf,
  showFilters,
  viewOfAddress,
} from "./trigger-filters.ts";
import type { TriggerView } from "./trigger-filters.ts";
import { createTriggerRow } from "./trigger-row.ts";
import { createViews } from "./views.ts";

const rows = createViews(byId("trigger-rows"), ({ id }: HistoryEntry) => id, createTriggerRow);
let shown: readonly HistoryEntry[] = [];
let view = viewOfAddress();
let nextBefore: string | null = null;
let shownTotal = 0;
/** The views that led here by going to older pages. */
let newerViews: readonly TriggerView[] = [];
let requests = 0;
/** Whether the scheduler did not respond when the view changed: the rows are of the view before it. */
let isBehind = false;

/** Shows the view of the address; a response for an earlier view is dropped. */
async function show(): Promise<void> {
  requests += 1;
  const own = requests;
  showFilters(view);
  byId("show-new").hidden = true;
  const fetched = await fetchJson<HistoryPage>(pagePath());
  if (own !== requests) return;
  isBehind = !fetched.ok && fetched.status === 0;
  if (!fetched.ok) return showToast(fetched.detail);
  // A row stays, with what is unfolded below it, as long as its view does.
  rows.show([]);
  shown = fetched.value.triggers;
  rows.show(shown);
  showPage(fetched.value);
}

function showPage({ triggers, total, nextBefore: next }: HistoryPage): void {
  nextBefore = next;
  shownTotal = total;
  setText(byId("total"), counted(total, "trigger"));
  const isNewest = view.before === "";
  byId("triggers").hidden = triggers.length === 0;
  byId("pager").hidden = isNewest && next === null;
  showText("none", triggers.length > 0 ? null : noneText());
  setPressable("newest", !isNewest);
  setPressable("newer", newerViews.length > 0);
  setPressable("older", next !== null);
  setText(byId("place"), isNewest ? "Newest" : `Page ${newerViews.length + 1}`);
}

function setPressable(id: string, isPressable: boolean): void {
  setAttribute(byId(id), "aria-disabled", isPressable ? null : "true");
}

function noneText(): string {
  if (Object.keys(view.filters).length > 0) return "Nothing in the history meets these filters.";
  return "Nothing has triggered an agent yet. Ticks, webhooks, calls and runs by hand appear here.";
}

function pagePath(): string {
  return `/api/stats/triggers?${queryOf(view, Date.now())}`;
}

/** Updates the rows that are shown; new ones are counted, and shown on demand. */
const refresh = soonOnce(async () => {
  const own = requests;
  if (isBehind) return show();
  if (view.before !== "" || document.visibilityState === "hidden") return;
  const fetched = await fetchJson<HistoryPage>(pagePath());
  if (!fetched.ok || own !== requests) return;
  const { triggers, total } = fetched.value;
  if (shown.length === 0 && triggers.length > 0) return show();
  const isNew = triggers[0] !== undefined && !shown.some(({ id }) => id === triggers[0]?.id);
  const changed = new Map(triggers.map((entry) => [entry.id, entry]));
  shown = shown.map((entry) => changed.get(entry.id) ?? entry);
  rows.show(shown);
  showText("show-new", isNew ? `Show ${counted(newTriggers(total), "new trigger")}` : null);
});

/** Old entries may be deleted while new ones arrive. */
function newTriggers(total: number): number {
  return Math.max(total - shownTotal, 1);
}

function goTo(next: TriggerView): void {
  view = next;
  history.pushState(null, "", addressOf(view));
  void show();
}

function onButton(id: string, action: () => void): void {
  byId(id).addEventListener("click", () => {
    if (byId(id).getAttribute("aria-disabled") !== "true") action();
  });
}

onButton("older", () => {
  if (nextBefore === null) return;
  newerViews = [...newerViews, view];
  goTo({ ...view, before: nextBefore });
});
onButton("newer", () => {
  const newer = newerViews.at(-1);
  newerViews = newerViews.slice(0, -1);
  if (newer !== undefined) goTo(newer);
});
onButton("newest", () => {
  newerViews = [];
  goTo({ ...view, before: "" });
});
onButton("show-new", () => void show());

byId("filters").addEventListener("submit", (event) => event.preventDefault());
byId("filters").addEventListener("change", () => {
  newerViews = [];
  goTo({ filters: filtersOfForm(), before: "" });
});
byId("filters").addEventListener("reset", (event) => {
  event.preventDefault();
  newerViews = [];
  goTo({ filters: {}, before: "" });
});
addEventListener("popstate", () => {
  view = viewOfAddress();
  newerViews = view.before === "" ? [] : newerViews.slice(0, -1);
  void show();
});

function showSnapshot({ scheduler, agents }: StatusSnapshot): void {
  showScheduler(scheduler, "Triggers");
  byId("agent-names").replaceChildren(...agents.map(({ name }) => new Option("", name)));
  refresh();
}

eachSecond(rows.tick);

void show();
openStatusStream({
  snapshot: showSnapshot,
  update: ({ scheduler }) => {
    if (scheduler !== undefined) showScheduler(scheduler, "Triggers");
    refresh();
  },
});
