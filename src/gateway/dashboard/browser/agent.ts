import type { HistoryPage } from "../../../contracts/history.ts";
import type { AgentStatus, StatusSnapshot, StatusUpdate } from "../../../../streams/status/wire.ts";
import { disabledText } from "../../../contracts/agent-columns.ts";
import { plainText } from "../../../contracts/plain-text.ts";
import { wireAgentActions } from "./agent-actions.ts";
import { createAgentDetail } from "./agent-detail.ts";
import { createAgentLocks } from "./agent-locks.ts";
import { getJson } from "./api.ts";
import { byId, setAttribute, setText } from "./dom.ts";
import { openLive } from "./live.ts";
import { createLockClaims } from "./lock-claims.ts";
import { runCharts } from "./run-charts.ts";
import { byStart, createRunList } from "./run-list.ts";
import { isLost, showConnection, showScheduler } from "./site.ts";
import { soonOnce } from "./soon-once.ts";

const name = byId("agent").dataset.agent ?? "";
const shownRuns = 30;
const runList = createRunList(byId("run-rows"));
const detail = createAgentDetail(name);
const actions = wireAgentActions(name);
const claims = createLockClaims();
const locks = createAgentLocks(name);

const readRuns = soonOnce(async () => {
  const path = `/api/stats/triggers?agent=${encodeURIComponent(name)}&limit=${shownRuns}`;
  const fetched = await getJson<HistoryPage>(path);
  if (!fetched.ok) return;
  const triggers = byStart(fetched.value.triggers);
  runList.show(triggers);
  const charts = runCharts(triggers);
  byId("charts").replaceChildren(...charts);
  byId("runs").hidden = triggers.length === 0;
  byId("charts").hidden = charts.length === 0;
  byId("runs-empty").hidden = triggers.length > 0;
});

function showAgent(agent: AgentStatus): void {
  byId("gone").hidden = true;
  setText(byId("state"), agent.state);
  setAttribute(byId("state"), "class", `pill ${agent.state}`);
  const disabled = disabledText(agent);
  byId("disabled").hidden = disabled === null;
  setText(byId("disabled"), disabled ?? "");
  const load = [
    ...(agent.running > 0 ? [`${agent.running} of ${agent.scale} running`] : []),
    ...(agent.queued > 0 ? [`${agent.queued} of ${agent.queueSize} queued`] : []),
  ];
  setText(byId("load"), load.join(" · "));
  const title = agent.title === agent.name ? [] : [agent.title];
  const words = [
    ...new Set([...title, ...(agent.description === null ? [] : [agent.description])]),
  ];
  setText(byId("description"), words.join(": "));
  byId("description").hidden = words.length === 0;
  setText(byId("agent-error"), plainText(agent.error ?? ""));
  byId("agent-error").hidden = agent.error === null;
  setText(byId("agent-warning"), plainText(agent.warning ?? ""));
  byId("agent-warning").hidden = agent.warning === null;
  setText(byId("status-text"), plainText(agent.statusText ?? ""));
  byId("status-text").hidden = agent.statusText === null;
  actions.show(agent);
  detail.setEnabled(agent.enabled);
}

function showGone(): void {
  byId("gone").hidden = false;
  setText(byId("state"), "gone");
  setAttribute(byId("state"), "class", "pill");
  actions.showGone();
}

function showSnapshot(snapshot: StatusSnapshot): void {
  const { scheduler, agents } = snapshot;
  showScheduler(scheduler, name);
  detail.setPaused(scheduler.paused);
  const agent = agents.find((each) => each.name === name);
  if (agent === undefined) showGone();
  else showAgent(agent);
  claims.reset(snapshot);
  locks.show(claims.all());
  detail.read();
  readRuns();
}

function showUpdate(update: StatusUpdate): void {
  const { scheduler, agents, removed, logs } = update;
  if (claims.see(update)) locks.show(claims.all());
  if (scheduler !== undefined) {
    showScheduler(scheduler, name);
    detail.setPaused(scheduler.paused);
  }
  if (removed?.includes(name) === true) showGone();
  const agent = agents?.find((each) => each.name === name);
  if (agent !== undefined) {
    showAgent(agent);
    readRuns();
  }
  // What the scheduler says of an agent, and no run does, is mostly a change to its files.
  const isTold = logs?.some((line) => line.agent === name && line.instanceId === null) === true;
  if (agent !== undefined || isTold) detail.read();
}

setInterval(() => {
  if (document.visibilityState === "hidden" || isLost()) return;
  const now = Date.now();
  runList.tick(now);
  detail.tick(now);
  locks.tick(now);
}, 1000);

openLive({
  url: () => "/dashboard/api/status-stream",
  on: {
    snapshot: (data) => showSnapshot(JSON.parse(data) as StatusSnapshot),
    update: (data) => showUpdate(JSON.parse(data) as StatusUpdate),
  },
  onState: showConnection,
});
