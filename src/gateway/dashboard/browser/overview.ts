import type {
  SchedulerStatus,
  StatusSnapshot,
  StatusUpdate,
} from "../../../../streams/status/wire.ts";
import { counted } from "../../../contracts/format.ts";
import { announce, onPress, post } from "./actions.ts";
import { createActivity } from "./activity.ts";
import { createAgentTable } from "./agent-table.ts";
import { byId, setAttribute, setText } from "./dom.ts";
import { openLive } from "./live.ts";
import { createLockClaims } from "./lock-claims.ts";
import { createLockList } from "./lock-list.ts";
import { isLost, showConnection, showScheduler } from "./site.ts";
import { createTimeline } from "./timeline.ts";

const table = createAgentTable();
const activity = createActivity();
const timeline = createTimeline();
const claims = createLockClaims();
const lockList = createLockList();
let isPaused = false;

function showSchedule(scheduler: SchedulerStatus): void {
  showScheduler(scheduler, null);
  isPaused = scheduler.paused;
  setText(byId("scheduler-state"), isPaused ? "paused" : "active");
  setAttribute(byId("scheduler-state"), "class", `pill ${isPaused ? "held" : "good"}`);
  setText(byId("pause"), isPaused ? "Resume" : "Pause");
  setAttribute(byId("pause"), "aria-label", `${isPaused ? "Resume" : "Pause"} the scheduler`);
  table.setScheduler(scheduler);
}

function showCounts(): void {
  const { agents } = table;
  const states = { running: 0, building: 0, error: 0, idle: 0 };
  for (const { state } of agents.values()) states[state] += 1;
  const parts = [
    counted(agents.size, "agent"),
    ...(states.running === 0 ? [] : [`${states.running} running`]),
    ...(states.building === 0 ? [] : [`${states.building} building`]),
    ...(states.error === 0 ? [] : [`${states.error} in error`]),
  ];
  setText(byId("counts"), parts.join(" · "));
  byId("table").hidden = agents.size === 0;
  byId("timeline").hidden = agents.size === 0;
  byId("empty").hidden = agents.size > 0;
}

function showSnapshot(snapshot: StatusSnapshot): void {
  const { scheduler, agents, recentLogs } = snapshot;
  showSchedule(scheduler);
  table.replace(agents);
  timeline.reset(agents);
  activity.begin(scheduler.startedAt, recentLogs);
  claims.reset(snapshot);
  lockList.show(claims.all());
  showCounts();
}

function showUpdate(update: StatusUpdate): void {
  const { scheduler, agents, removed, logs } = update;
  if (scheduler !== undefined) showSchedule(scheduler);
  if (removed !== undefined) {
    table.remove(removed);
    timeline.remove(removed);
  }
  if (agents !== undefined) {
    table.change(agents);
    timeline.see(agents);
  }
  if (logs !== undefined) activity.add(logs);
  if (claims.see(update)) lockList.show(claims.all());
  if (agents !== undefined || removed !== undefined) showCounts();
}

onPress(byId("pause"), async () => {
  const answer = await post(`/control/${isPaused ? "resume" : "pause"}`);
  if (answer !== null) announce(answer.paused === true ? "Scheduler paused" : "Scheduler resumed");
});

setInterval(() => {
  if (document.visibilityState === "hidden" || isLost()) return;
  table.tick(Date.now());
  lockList.tick(Date.now());
}, 1000);

openLive({
  url: () => "/dashboard/api/status-stream",
  on: {
    snapshot: (data) => showSnapshot(JSON.parse(data) as StatusSnapshot),
    update: (data) => showUpdate(JSON.parse(data) as StatusUpdate),
  },
  onState: showConnection,
});
