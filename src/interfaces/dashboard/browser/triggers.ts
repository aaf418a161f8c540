import type { HistoryEntry, HistoryPage } from "../../../foundation/contracts/history.ts";
import { counted } from "../../../foundation/contracts/format.ts";
import { showToast } from "./actions.ts";
import { fetchJson } from "./api.ts";
import { byId, setText, showText } from "./dom.ts";
import { createFilters, offerAgents } from "./filters.ts";
import { createListViews } from "./list-views.ts";
import { createRefusedDeliveries } from "./refused-deliveries.ts";
import { eachSecond, openStatusStream } from "./site.ts";
import { soonOnce } from "./soon-once.ts";
import { createTriggerRow } from "./trigger-row.ts";
import { createViews } from "./views.ts";

const hourLength = 3_600_000;

const filters = createFilters(["agent", "kind", "outcome", "hours", "dead"]);
const views = createListViews(filters, () => void show());
const rows = createViews(byId("trigger-rows"), ({ id }: HistoryEntry) => id, createTriggerRow);
const refused = createRefusedDeliveries();
let shown: readonly HistoryEntry[] = [];
let shownTotal = 0;
let requests = 0;
/** Whether the scheduler did not respond when the view changed: the rows are of the view before it. */
let isBehind = false;

/** Shows the view of the address; a response for an earlier view is dropped. */
async function show(): Promise<void> {
  requests += 1;
  const own = requests;
  void refused.read();
  filters.show(views.current());
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

function showPage({ triggers, total, nextBefore }: HistoryPage): void {
  shownTotal = total;
  setText(byId("total"), counted(total, "trigger"));
  byId("triggers").hidden = triggers.length === 0;
  showText("none", triggers.length > 0 ? null : noneText());
  views.showPager(nextBefore);
}

function noneText(): string {
  if (Object.keys(views.current().filters).length > 0) return "No entries match these filters.";
  return "Nothing has triggered an agent yet. Schedules, webhooks, calls and manual runs appear here.";
}

function pagePath(): string {
  const { filters: given, before } = views.current();
  const { hours, dead, ...rest } = given;
  const query = new URLSearchParams(rest);
  if (hours !== undefined) {
    query.set("since", new Date(Date.now() - (Number(hours) || 1) * hourLength).toISOString());
  }
  if (dead === "true") query.set("deadLetter", "true");
  if (before !== "") query.set("before", before);
  return `/api/stats/triggers?${query.toString()}`;
}

/** Updates the rows that are shown; new ones are counted, and shown on demand. */
const refresh = soonOnce(async () => {
  const own = requests;
  if (isBehind) return show();
  void refused.read();
  if (views.current().before !== "" || document.visibilityState === "hidden") return;
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

byId("show-new").addEventListener("click", () => void show());

eachSecond((now) => {
  rows.tick(now);
  refused.tick(now);
});

void show();
openStatusStream("Triggers", {
  snapshot: ({ agents }) => {
    offerAgents(agents);
    refresh();
  },
  update: refresh,
});
