import { useEffect } from "preact/hooks";
import type {
  SchedulerStatus,
  StatusSnapshot,
  StatusUpdate,
} from "../../../../streams/status/wire.ts";
import { noResponse } from "./api.ts";
import { applyUpdate, changedAgents } from "./apply-update.ts";
import type { LiveState } from "./hub.ts";
import { openLive } from "./live.ts";
import { createStore, useLatest } from "./store.ts";
import { dismiss } from "./toasts.ts";
import { publicPath } from "../text/base-path.ts";

/** Whether the page is connected to the scheduler, and since when it is not (epoch ms). */
export const connection = createStore<{
  readonly state: LiveState;
  readonly lostAt: number | null;
}>({ state: "connecting", lostAt: null });

/** The last received state of the scheduler; null before the first event. */
export const scheduler = createStore<SchedulerStatus | null>(null);

/** The status as the browser received it last; null before. */
export const status = createStore<StatusSnapshot | null>(null);

interface StatusHandlers {
  /** Called after each connect. */
  readonly snapshot: (snapshot: StatusSnapshot) => unknown;
  readonly update: (update: StatusUpdate, agents: ReturnType<typeof changedAgents>) => unknown;
}

const listeners = new Set<{ readonly current: StatusHandlers }>();

/** Calls back for each event of the scheduler's status. */
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
function showConnection(state: LiveState): void {
  const { lostAt } = connection.get();
  if (state === "live") dismiss(({ text }) => text === noResponse);
  document.body.dataset.connection = state;
  connection.set({ state, lostAt: state === "lost" ? (lostAt ?? Date.now()) : null });
}

/** Keeps the page current. */
export function followStatus(): void {
  openLive((message) => {
    const wasLost = connection.get().state === "lost";
    if (message.type === "state") showConnection(message.state);
    if (message.type === "snapshot") show(message.snapshot);
    const now = status.get();
    const isConnected =
      message.type === "snapshot" ||
      (wasLost && message.type === "state" && message.state === "live");
    if (isConnected && now !== null) for (const { current } of listeners) current.snapshot(now);
    if (message.type === "update") {
      const last = status.get();
      const agents = changedAgents(message.update, last);
      if (last !== null) show(applyUpdate(last, message.update));
      for (const { current } of listeners) current.update(message.update, agents);
    }
  });
}

function show(now: StatusSnapshot): void {
  status.set(now);
  scheduler.set(now.scheduler);
}

/** Browsers run the timers of hidden tabs once a minute. */
const askMs = 60_000;

/** Keeps the frame of a hidden tab current, which follows nothing. */
export function watchWhileHidden(): void {
  const ask = async (): Promise<void> => {
    if (document.visibilityState !== "hidden") return;
    const response = await fetch(publicPath("/dashboard/api/scheduler"), {
      credentials: "same-origin",
    });
    if (response.ok) scheduler.set((await response.json()) as SchedulerStatus);
  };
  // Without a response the frame is unchanged; the page itself shows that the scheduler is gone.
  const askAnyway = (): void => void ask().catch(() => undefined);
  setInterval(askAnyway, askMs);
  askAnyway();
}
