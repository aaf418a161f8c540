import { render } from "preact";
import type {
  AgentStatus,
  SchedulerStatus,
  StatusSnapshot,
  StatusUpdate,
} from "../../../../streams/status/wire.ts";
import { counted } from "../../../contracts/format.ts";
import { announce, post } from "./actions.ts";
import { createActivity } from "./activity.tsx";
import { createAgentTable } from "./agent-table.tsx";
import { Button } from "./buttons.tsx";
import { byId, setAttribute, setText } from "./dom.ts";
import { showLocks } from "./lock-list.tsx";
import { createLockStatuses } from "./lock-statuses.ts";
import { openStatusStream, showScheduler } from "./site.ts";
import { createTimeline } from "./timeline.tsx";

const agents = new Map<string, AgentStatus>();
const table = createAgentTable();
const activity = createActivity();
const timeline = createTimeline();
const locks = createLockStatuses();
let scheduler: Pick<SchedulerStatus, "paused" | "draining"> = { paused: false, draining: false };

function showSchedule(now: SchedulerStatus): void {
  scheduler = now;
  showScheduler(now, null);
  setText(byId("scheduler-state"), now.paused ? "paused" : "active");
  setAttribute(byId("scheduler-state"), "class", `pill ${now.paused ? "held" : "good"}`);
  showPauseButton();
}

function showPauseButton(): void {
  const word = scheduler.paused ? "Resume" : "Pause";
  const press = async (): Promise<void> => {
    const answer = await post(`/control/${word.toLowerCase()}`);
    if (answer !== null)
      announce(answer.paused === true ? "Scheduler paused" : "Scheduler resumed");
  };
  const button = (
    <Button id="pause" class="button acts" label={`${word} the scheduler`} onPress={press}>
      {word}
    </Button>
  );
  render(button, byId("scheduler-actions"));
}

function showAgents(): void {
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
  table.show(agents.values(), scheduler);
}

function showSnapshot(snapshot: StatusSnapshot): void {
  agents.clear();
  for (const agent of snapshot.agents) agents.set(agent.name, agent);
  showSchedule(snapshot.scheduler);
  showAgents();
  timeline.reset(snapshot.agents);
  activity.begin(snapshot.scheduler.startedAt, snapshot.recentLogs);
  locks.reset(snapshot);
  showLocks(locks.all());
}

function showUpdate(update: StatusUpdate): void {
  const { scheduler: changed, agents: updated = [], removed = [], logs = [] } = update;
  if (changed !== undefined) showSchedule(changed);
  for (const name of removed) agents.delete(name);
  for (const agent of updated) agents.set(agent.name, agent);
  if (changed !== undefined || removed.length + updated.length > 0) showAgents();
  if (removed.length > 0) timeline.remove(removed);
  timeline.apply(updated);
  activity.add(logs);
  if (locks.apply(update)) showLocks(locks.all());
}

showPauseButton();
openStatusStream({ snapshot: showSnapshot, update: showUpdate });
