import { useEffect } from "preact/hooks";
import type {
  SchedulerStatus,
  StatusSnapshot,
  StatusUpdate,
} from "../../../../streams/status/wire.ts";
import { noResponse } from "./api.ts";
import { openLive } from "./live.ts";
import type { LiveState } from "./live.ts";
import { createStore, useLatest } from "./store.ts";
import { dismiss } from "./toasts.ts";
import { publicPath } from "../text/base-path.ts";

/** Whether the page is connected to the scheduler, and since when it is not (epoch ms). */
export const connection = createStore<{
  readonly state: LiveState;
  readonly lostAt: number | null;
}>({ state: "connecting", lostAt: null });

/** The scheduler as the browser received it last; null before. */
export const scheduler = createStore<SchedulerStatus | null>(null);

interface StatusHandlers {
  readonly snapshot: (snapshot: StatusSnapshot) => unknown;
  readonly update: (update: StatusUpdate) => unknown;
}

const listeners = new Set<{ readonly current: StatusHandlers }>();

/** Calls back for each event of the scheduler's status stream. */
export function useStatus(handlers: StatusHandlers): void {
  const latest = useLatest(handlers);
  useEffect(() => {
    listeners.add(latest);
    return () => {
      listeners.delete(latest);
    };
  }, []);
}

/** Shows whether the page is connected to the scheduler. */
export function showConnection(state: LiveState): void {
  const { lostAt } = connection.get();
  if (state === "live") dismiss(({ text }) => text === noResponse);
  document.body.dataset.connection = state;
  connection.set({ state, lostAt: state === "lost" ? (lostAt ?? Date.now()) : null });
}

/** Opens the scheduler's status stream, which keeps a page current. */
export function openStatusStream(): void {
  openLive({
    url: () => "/dashboard/api/status-stream",
    on: {
      snapshot: (data) => {
        const snapshot = JSON.parse(data) as StatusSnapshot;
        scheduler.set(snapshot.scheduler);
        for (const { current } of listeners) current.snapshot(snapshot);
      },
      update: (data) => {
        const update = JSON.parse(data) as StatusUpdate;
        if (update.scheduler !== undefined) scheduler.set(update.scheduler);
        for (const { current } of listeners) current.update(update);
      },
    },
    onState: showConnection,
  });
}

/** Browsers run the timers of hidden tabs once a minute. */
const askMs = 60_000;

/**
 * Keeps the frame current where no status stream does: a hidden tab has closed its stream, and some pages have none.
 */
export function watchScheduler(hasStream: boolean): void {
  const ask = async (): Promise<void> => {
    if (hasStream && document.visibilityState !== "hidden") return;
    const response = await fetch(publicPath("/dashboard/api/scheduler"), {
      credentials: "same-origin",
    });
    if (response.ok) scheduler.set((await response.json()) as SchedulerStatus);
  };
  // Without a response the frame stays as it is; the page itself shows that the scheduler is gone.
  const askAnyway = (): void => void ask().catch(() => undefined);
  setInterval(askAnyway, askMs);
  askAnyway();
}
