import type { SchedulerStatus } from "../../../../streams/status/wire.ts";
import { byId, setAttribute, setText } from "./dom.ts";

/** Browsers run the timers of hidden tabs once a minute. */
const askMs = 60_000;

let title = document.title;
let count = 0;

/** Changes the tab's title; the count of alerts stays before it. */
export function setTitle(text: string): void {
  title = text;
  write();
}

/** Shows in the header whose scheduler it is, and in the tab and beside their page how many alerts there are to look at. */
export function showFrame({ project, alerts }: SchedulerStatus): void {
  setText(byId("project"), project);
  count = alerts.open + alerts.dead;
  byId("alert-count").hidden = count === 0;
  setText(byId("alert-count-text"), count.toLocaleString("en"));
  write();
}

/**
 * Keeps the frame right where no status stream does: a hidden tab has closed its stream, and some pages have none. Such a
 * tab is one of many, where the count is all that is seen of it.
 */
export function watchScheduler(hasStream: boolean): void {
  const ask = async (): Promise<void> => {
    if (hasStream && document.visibilityState !== "hidden") return;
    const response = await fetch("/dashboard/api/scheduler", { credentials: "same-origin" });
    if (response.ok) showFrame((await response.json()) as SchedulerStatus);
  };
  // Without an answer the count stays; where a person looks, the page itself shows that the scheduler is gone.
  const askAnyway = (): void => void ask().catch(() => undefined);
  setInterval(askAnyway, askMs);
  askAnyway();
}

function write(): void {
  const text = count === 0 ? title : `(${count}) ${title}`;
  if (document.title !== text) document.title = text;
  const icon = byId("icon", HTMLLinkElement);
  const { calm = "", alert = "" } = icon.dataset;
  setAttribute(icon, "href", count === 0 ? calm : alert);
}
