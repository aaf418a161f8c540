import type { HistoryPage } from "../../../foundation/contracts/history.ts";
import type { AgentStatus, StatusSnapshot, StatusUpdate } from "../../../../streams/status/wire.ts";
import { errorToShow } from "../../../foundation/contracts/agent-columns.ts";
import { plainText } from "../../../foundation/contracts/plain-text.ts";
import { wireAgentActions } from "./agent-actions.ts";
import { createAgentBudget } from "./agent-budget.ts";
import { createAgentDetail } from "./agent-detail.ts";
import { createAgentHosts } from "./agent-hosts.ts";
import { createAgentLocks } from "./agent-locks.ts";
import { createAgentWhy } from "./agent-why.ts";
import { showAgentState, showGoneState } from "./agent-state.ts";
import { fetchJson } from "./api.ts";
import { byId, showText } from "./dom.ts";
import { createLockStatuses } from "./lock-statuses.ts";
import { runCharts } from "./run-charts.ts";
import { withChanges } from "./run-changes.ts";
import { byStart, createRunList } from "./run-list.ts";
import { eachSecond, openStatusStream } from "./site.ts";
import { soonOnce } from "./soon-once.ts";

const name = byId("agent").dataset.agent ?? "";
const shownRuns = 30;
const runList = createRunList(byId("run-rows"));
const detail = createAgentDetail(name);
const actions = wireAgentActions(name);
const budget = createAgentBudget(name);
const locks = createLockStatuses();
const hosts = createAgentHosts(name);
const why = createAgentWhy(name);
const lockList = createAgentLocks(name);

const readRuns = soonOnce(async () => {
  const path = `/api/stats/triggers?agent=${encodeURIComponent(name)}&limit=${shownRuns}`;
  const fetched = await fetchJson<HistoryPage>(path);
  if (!fetched.ok) return;
  const triggers = byStart(fetched.value.triggers);
  runList.show(withChanges(triggers));
  const charts = runCharts(triggers);
  byId("charts").replaceChildren(...charts);
  byId("runs").hidden = triggers.length === 0;
  byId("charts").hidden = charts.length === 0;
  byId("runs-empty").hidden = triggers.length > 0;
});

function showAgent(agent: AgentStatus): void {
  byId("gone").hidden = true;
  showAgentState(agent);
  const words = [agent.title === agent.name ? null : agent.title, agent.description];
  showText("description", [...new Set(words.filter((text) => text !== null))].join(": "));
  const error = errorToShow(agent);
  showText("agent-error", error && plainText(error));
  showText("agent-warning", agent.warning && plainText(agent.warning));
  showText("status-text", agent.statusText && plainText(agent.statusText));
  actions.show(agent);
  budget.show(agent);
  detail.setEnabled(agent.enabled);
}

function showGone(): void {
  byId("gone").hidden = false;
  showGoneState();
  actions.showGone();
}

function showSnapshot(snapshot: StatusSnapshot): void {
  const { scheduler, agents } = snapshot;
  detail.setPaused(scheduler.paused);
  const agent = agents.find((each) => each.name === name);
  if (agent === undefined) showGone();
  else showAgent(agent);
  locks.reset(snapshot);
  lockList.show(locks.all());
  detail.read();
  hosts.read();
  why.read();
  readRuns();
}

function showUpdate(update: StatusUpdate): void {
  const { scheduler, agents, removed, logs } = update;
  if (locks.apply(update)) lockList.show(locks.all());
  if (scheduler !== undefined) detail.setPaused(scheduler.paused);
  if (removed?.includes(name) === true) showGone();
  const agent = agents?.find((each) => each.name === name);
  if (agent !== undefined) {
    showAgent(agent);
    hosts.read();
    why.read();
    readRuns();
  }
  // A line of the scheduler about an agent, and of no run, is mostly a change to its files.
  const isNoted = logs?.some((line) => line.agent === name && line.instanceId === null) === true;
  if (agent !== undefined || isNoted) detail.read();
  if (isNoted) hosts.read();
}

eachSecond((now) => {
  runList.tick(now);
  detail.tick(now);
  budget.tick(now);
  hosts.tick(now);
  why.tick(now);
  lockList.tick(now);
});

openStatusStream(name, { snapshot: showSnapshot, update: showUpdate });
