import type { SchedulerStatus } from "../../../../streams/status/wire.ts";
import { byId, setAttribute } from "./dom.ts";

type Alerts = SchedulerStatus["alerts"];

/** Browsers run the timers of hidden tabs once a minute. */
const askMs = 60_000;

let title = document.title;
let count = 0;

/** Changes the tab's title; the count of alerts stays before it. */
export function setTitle(text: string): void {
  title = text;
  write();
}

/** Shows in the tab how many alerts are open or could not be delivered. */
export function showAlertCount({ open, dead }: Alerts): void {
  count = open + dead;
  write();
}

/**
 * Keeps the count right where no status stream does: a hidden tab has closed its stream, and some pages have none. Such a
 * tab is one of many, where the count is all that is seen of it.
 */
export function watchAlerts(hasStream: boolean): void {
  const ask = async (): Promise<void> => {
    if (hasStream && document.visibilityState !== "hidden") return;
    const response = await fetch("/dashboard/api/scheduler", { credentials: "same-origin" });
    if (response.ok) showAlertCount(((await response.json()) as SchedulerStatus).alerts);
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
