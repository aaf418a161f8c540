import type { HistoryPage } from "../../../contracts/history.ts";
import type { StatusSnapshot, StatusUpdate } from "../../../../streams/status/wire.ts";
import { counted } from "../../../contracts/format.ts";
import { showToast } from "./actions.ts";
import { getJson } from "./api.ts";
import { byId, create, setAttribute, setText } from "./dom.ts";
import { openLive } from "./live.ts";
import { isLost, showConnection, showScheduler } from "./site.ts";
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
import type { TriggerRow } from "./trigger-row.ts";

const rows = new Map<string, TriggerRow>();
let view = viewOfAddress();
let nextBefore: string | null = null;
let shownTotal = 0;
/** The views that led here by going to older pages. */
let newerViews: readonly TriggerView[] = [];
let asked = 0;
/** Whether nobody answered when the view changed: what is shown is of the view before it. */
let isBehind = false;

/** Shows what the address says; what is on its way for an earlier view comes to nothing. */
async function show(): Promise<void> {
  asked += 1;
  const own = asked;
  showFilters(view);
  byId("show-new").hidden = true;
  const fetched = await getJson<HistoryPage>(pagePath());
  if (own !== asked) return;
  isBehind = !fetched.ok && fetched.status === 0;
  if (!fetched.ok) return showToast(fetched.detail);
  const page = fetched.value;
  rows.clear();
  byId("trigger-rows").replaceChildren();
  for (const entry of page.triggers) {
    const row = createTriggerRow(entry);
    row.show(entry);
    rows.set(entry.id, row);
    byId("trigger-rows").append(row.element);
  }
  showPage(page);
}

function showPage({ triggers, total, nextBefore: next }: HistoryPage): void {
  nextBefore = next;
  shownTotal = total;
  setText(byId("total"), counted(total, "trigger"));
  const isNewest = view.before === "";
  byId("none").hidden = triggers.length > 0;
  byId("triggers").hidden = triggers.length === 0;
  byId("pager").hidden = isNewest && next === null;
  setText(byId("none"), noneText());
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

/** Rows that are shown follow what becomes of them; new ones are counted, and come when they are asked for. */
const look = soonOnce(async () => {
  const own = asked;
  if (isBehind) return show();
  if (view.before !== "" || document.visibilityState === "hidden") return;
  const fetched = await getJson<HistoryPage>(pagePath());
  if (!fetched.ok || own !== asked) return;
  const { triggers, total } = fetched.value;
  if (rows.size === 0 && triggers.length > 0) return show();
  for (const entry of triggers) rows.get(entry.id)?.show(entry);
  const newest = triggers[0];
  const isNew = newest !== undefined && !rows.has(newest.id);
  byId("show-new").hidden = !isNew;
  if (isNew) setText(byId("show-new"), `Show ${counted(newTriggers(total), "new trigger")}`);
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
  const options = agents.map(({ name }) => {
    const option = create("option");
    option.value = name;
    return option;
  });
  byId("agent-names").replaceChildren(...options);
  look();
}

setInterval(() => {
  if (document.visibilityState === "hidden" || isLost()) return;
  for (const row of rows.values()) row.tick(Date.now());
}, 1000);

void show();
openLive({
  url: () => "/dashboard/api/status-stream",
  on: {
    snapshot: (data) => showSnapshot(JSON.parse(data) as StatusSnapshot),
    update: (data) => {
      const { scheduler } = JSON.parse(data) as StatusUpdate;
      if (scheduler !== undefined) showScheduler(scheduler, "Triggers");
      look();
    },
  },
  onState: showConnection,
});
