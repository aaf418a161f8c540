import type {
  SchedulerStatus,
  StatusSnapshot,
  StatusUpdate,
} from "../../../../streams/status/wire.ts";
import { forgetSilence } from "./actions.ts";
import { byId, setAttribute, setText, showText } from "./dom.ts";
import { clockTime } from "./format.ts";
import { openLive } from "./live.ts";
import type { LiveState } from "./live.ts";
import { setTitle, showFrame, watchScheduler } from "./tab.ts";

const connectionWords: Readonly<Record<LiveState, string>> = {
  connecting: "Connecting",
  live: "Live",
  lost: "Not connected",
};

let lostAt: number | null = null;

/** Opens the scheduler's status stream, over which the pages in the frame are live. `page` begins the tab's title. */
export function openStatusStream(
  page: string | null,
  on: {
    snapshot(snapshot: StatusSnapshot): void;
    update(update: StatusUpdate): void;
  },
): void {
  openLive({
    url: () => "/dashboard/api/status-stream",
    on: {
      snapshot: (data) => {
        const snapshot = JSON.parse(data) as StatusSnapshot;
        showScheduler(snapshot.scheduler, page);
        on.snapshot(snapshot);
      },
      update: (data) => {
        const update = JSON.parse(data) as StatusUpdate;
        if (update.scheduler !== undefined) showScheduler(update.scheduler, page);
        on.update(update);
      },
    },
    onState: showConnection,
  });
  watchScheduler(true);
}

/** Shows in the frame what is true of the scheduler as a whole. */
function showScheduler(scheduler: SchedulerStatus, page: string | null): void {
  showFrame(scheduler);
  setTitle([page, scheduler.project, "Almanac"].filter((part) => part !== null).join(" · "));
  showText("config-error", scheduler.error);
  showText("config-warnings", scheduler.warnings.join("\n"));
  setText(byId("version"), `Almanac ${scheduler.version}`);
}

/** Shows whether the page is connected to the scheduler, and since when it isn't. */
export function showConnection(state: LiveState): void {
  if (state === "live") {
    lostAt = null;
    forgetSilence();
  }
  if (state === "lost") lostAt ??= Date.now();
  setAttribute(document.body, "data-connection", state);
  setText(byId("connection-text"), connectionWords[state]);
  showText("lost", lostAt === null ? null : lostText(lostAt));
}

/** Calls `tick` each second while the page is seen; time stands still on it while the connection is lost. */
export function eachSecond(tick: (now: number) => void): void {
  setInterval(() => {
    if (document.visibilityState !== "hidden" && lostAt === null) tick(Date.now());
  }, 1000);
}

function lostText(since: number): string {
  return (
    `The scheduler has not answered since ${clockTime(since)}. ` +
    "Showing the last known state. Trying again …"
  );
}
