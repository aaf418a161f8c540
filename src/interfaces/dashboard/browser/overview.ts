import type {
  AgentStatus,
  SchedulerStatus,
  StatusSnapshot,
  StatusUpdate,
} from "../../../../streams/status/wire.ts";
import { announce, onPress, post } from "./actions.ts";
import { createActivity } from "./activity.ts";
import { createAgentTable } from "./agent-table.ts";
import { byId, setAttribute, setText } from "./dom.ts";
import { createLockList } from "./lock-list.ts";
import { createLockStatuses } from "./lock-statuses.ts";
import { eachSecond, openStatusStream } from "./site.ts";
import { createTimeline } from "./timeline.ts";

const agents = new Map<string, AgentStatus>();
const activity = createActivity();
const timeline = createTimeline();
const table = createAgentTable((names) => timeline.filter(names));
const locks = createLockStatuses();
const lockList = createLockList();
let pause = { paused: false, draining: false };

function showSchedule(scheduler: SchedulerStatus): void {
  pause = scheduler;
  const word = pause.paused ? "Resume" : "Pause";
  setText(byId("scheduler-state"), pause.paused ? "paused" : "active");
  setAttribute(byId("scheduler-state"), "class", `pill ${pause.paused ? "held" : "good"}`);
  setText(byId("pause"), word);
  setAttribute(byId("pause"), "aria-label", `${word} the scheduler`);
}

function showAgents(): void {
  byId("table").hidden = agents.size === 0;
  byId("timeline").hidden = agents.size === 0;
  byId("empty").hidden = agents.size > 0;
  table.show(agents.values(), pause);
}

function showSnapshot(snapshot: StatusSnapshot): void {
  agents.clear();
  for (const agent of snapshot.agents) agents.set(agent.name, agent);
  showSchedule(snapshot.scheduler);
  showAgents();
  timeline.reset(snapshot.agents);
  activity.begin(snapshot.scheduler.startedAt, snapshot.recentLogs);
  locks.reset(snapshot);
  lockList.show(locks.all());
}

function showUpdate(update: StatusUpdate): void {
  const { scheduler, agents: changed = [], removed = [], logs = [] } = update;
  if (scheduler !== undefined) showSchedule(scheduler);
  for (const name of removed) agents.delete(name);
  for (const agent of changed) agents.set(agent.name, agent);
  if (scheduler !== undefined || removed.length + changed.length > 0) showAgents();
  if (removed.length > 0) timeline.remove(removed);
  if (changed.length > 0) timeline.apply(changed);
  activity.add(logs);
  if (locks.apply(update)) lockList.show(locks.all());
}

onPress(byId("pause"), async () => {
  const answer = await post(`/control/${pause.paused ? "resume" : "pause"}`);
  if (answer !== null) announce(answer.paused === true ? "Scheduler paused" : "Scheduler resumed");
});

eachSecond((now) => {
  table.tick(now);
  lockList.tick(now);
});

openStatusStream(null, { snapshot: showSnapshot, update: showUpdate });
