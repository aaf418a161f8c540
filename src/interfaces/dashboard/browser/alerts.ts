import type { SchedulerStatus } from "../../../../streams/status/wire.ts";
import type { AlertsReport, OpenAlertView } from "../../../foundation/contracts/alerts-report.ts";
import { announce, showToast } from "./actions.ts";
import { createDeliveryRow } from "./alert-delivery-row.ts";
import { wireRetryAll } from "./alert-retry.ts";
import { createTargetRow } from "./alert-target-row.ts";
import { fetchJson } from "./api.ts";
import { byId, setText, showText, create } from "./dom.ts";
import { createFilters } from "./filters.ts";
import { exactTime } from "./format.ts";
import { createListViews } from "./list-views.ts";
import { eachSecond, openStatusStream } from "./site.ts";
import { soonOnce } from "./soon-once.ts";
import { createViews } from "./views.ts";
import { topicWords } from "../../../foundation/contracts/alert-words.ts";
import { agentLink } from "./run-parts.ts";
import { createTime } from "./time-cell.ts";
import type { View } from "./views.ts";

/** An attempt changes the scheduler's status only when it ends a delivery: while something waits, it is asked for. */
const waitingMs = 5_000;

const filters = createFilters(["state", "target"]);
const views = createListViews(filters, () => void show());
const open = createViews(
  byId("open"),
  ({ agent, topic }) => `${topic} ${agent ?? ""}`,
  createOpenRow,
);
const targets = createViews(byId("targets"), ({ name }) => name, createTargetRow(refreshSoon));
const rows = createViews(byId("deliveries"), ({ id }) => id, createDeliveryRow(refreshSoon));
const retryAll = wireRetryAll(refreshSoon);
let requests = 0;
let askedAt = 0;
let isWaiting = false;

/** Shows the view of the address; a response for an earlier view is dropped. */
async function show(): Promise<void> {
  requests += 1;
  const own = requests;
  askedAt = Date.now();
  filters.show(views.current());
  const fetched = await fetchJson<AlertsReport>(`/api/alerts?${queryOf()}`);
  if (own !== requests) return;
  if (fetched.ok) showReport(fetched.value);
  else showToast(fetched.detail);
}

function queryOf(): string {
  const { filters: given, before } = views.current();
  const query = new URLSearchParams(given);
  if (before !== "") query.set("before", before);
  return query.toString();
}

function showReport(report: AlertsReport): void {
  open.show(report.open);
  targets.show(report.targets);
  rows.show(report.deliveries);
  isWaiting = report.targets.some(({ waiting }) => waiting > 0);
  showText("off", offText(report));
  byId("target-names").replaceChildren(...report.targets.map(({ name }) => new Option("", name)));
  showPart("open", report.open.length > 0);
  showPart("targets", report.targets.length > 0);
  showPart("deliveries", report.deliveries.length > 0);
  const none = report.deliveries.length > 0 ? null : noneText();
  setText(byId("deliveries-none"), none ?? "");
  byId("filters").hidden = none === noneAtAll;
  views.showPager(report.next);
}

function showPart(id: string, hasRows: boolean): void {
  byId(`${id}-table`).hidden = !hasRows;
  byId(`${id}-none`).hidden = hasRows;
}

const noneAtAll = "No alert was sent yet.";

function noneText(): string {
  const { filters: given, before } = views.current();
  if (before !== "") return "There are no older deliveries.";
  return Object.keys(given).length > 0 ? "No delivery meets these filters." : noneAtAll;
}

function offText({ targets: all }: AlertsReport): string | null {
  const lines = all.flatMap(({ name, offSince, lastError }) => {
    if (offSince === null) return [];
    const since = exactTime(Date.parse(offSince));
    return [
      `Target ${name} is off since ${since}: ${lastError ?? "it refuses everything"}. Nothing is sent to it. ` +
        "Correct its credential, then send a test: once it accepts one, it is on again.",
    ];
  });
  return lines.length === 0 ? null : lines.join("\n");
}

const refresh = soonOnce(async () => {
  if (document.visibilityState !== "hidden") await show();
});

function refreshSoon(done: string): void {
  announce(done);
  refresh();
}

eachSecond((now) => {
  open.tick(now);
  rows.tick(now);
  if (isWaiting && now - askedAt >= waitingMs) refresh();
});

function showCounts(scheduler: SchedulerStatus): void {
  const { open: opened, dead } = scheduler.alerts;
  setText(byId("total"), `${opened.toLocaleString("en")} open · ${dead.toLocaleString("en")} dead`);
  retryAll.show(dead);
}

openStatusStream("Alerts", {
  snapshot: ({ scheduler }) => {
    showCounts(scheduler);
    refresh();
  },
  update: ({ scheduler }) => {
    if (scheduler !== undefined) showCounts(scheduler);
    refresh();
  },
});

/** Makes the row of what is wrong now. */
function createOpenRow({ agent, topic }: OpenAlertView): View<OpenAlertView> {
  const since = createTime("past");
  const count = create("td", "number");
  const why = create("td", "why");
  const whose = agent === null ? create("span", "muted", "project") : agentLink(agent);
  const element = create(
    "tr",
    "",
    create("td", "what", topicWords[topic]),
    create("td", "", whose),
    create("td", "", since.element),
    count,
    why,
  );
  return {
    elements: () => [element],
    show: (now) => {
      since.show(now.since, "–");
      setText(count, now.count > 1 ? `${now.count} times` : "");
      setText(why, now.reason ?? "");
    },
    tick: (now) => since.tick(now),
  };
}
