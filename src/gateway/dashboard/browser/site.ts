import type { SchedulerStatus } from "../../../../streams/status/wire.ts";
import { forgetSilence } from "./actions.ts";
import { byId, setAttribute, setText } from "./dom.ts";
import { clockTime } from "./format.ts";
import type { LiveState } from "./live.ts";

const connectionWords: Readonly<Record<LiveState, string>> = {
  connecting: "Connecting",
  live: "Live",
  lost: "Not connected",
};

let lostAt: number | null = null;

/** Shows in the frame what is true of the scheduler as a whole. `page` begins the tab's title. */
export function showScheduler(scheduler: SchedulerStatus, page: string | null): void {
  setText(byId("project"), scheduler.project);
  document.title = [page, scheduler.project, "Almanac"].filter((part) => part !== null).join(" · ");
  setText(byId("config-error"), scheduler.error ?? "");
  byId("config-error").hidden = scheduler.error === null;
  setText(byId("config-warnings"), scheduler.warnings.join("\n"));
  byId("config-warnings").hidden = scheduler.warnings.length === 0;
  setText(byId("version"), `Almanac ${scheduler.version}`);
}

/** Shows whether the scheduler is heard, and since when it isn't. */
export function showConnection(state: LiveState): void {
  if (state === "live") {
    lostAt = null;
    forgetSilence();
  }
  if (state === "lost") lostAt ??= Date.now();
  setAttribute(document.body, "data-connection", state);
  setText(byId("connection-text"), connectionWords[state]);
  byId("lost").hidden = lostAt === null;
  if (lostAt !== null) setText(byId("lost"), lostText(lostAt));
}

/** Whether the scheduler is silent; then time stands still on the page. */
export function isLost(): boolean {
  return lostAt !== null;
}

function lostText(since: number): string {
  return (
    `The scheduler has not answered since ${clockTime(since)}. What is shown is how things stood then; ` +
    "what is greyed can't be known until it is back. Trying again …"
  );
}
