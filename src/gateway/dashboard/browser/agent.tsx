import { render } from "preact";
import type { HistoryPage } from "../../../contracts/history.ts";
import type { AgentStatus, StatusSnapshot, StatusUpdate } from "../../../../streams/status/wire.ts";
import { disabledText } from "../../../contracts/agent-columns.ts";
import { plainText } from "../../../contracts/plain-text.ts";
import { showAgentActions, wirePrompt } from "./agent-actions.tsx";
import { showTicksNote, wireAgentDetail } from "./agent-detail.tsx";
import { showAgentLocks } from "./agent-locks.tsx";
import { getJson } from "./api.ts";
import { byId, setAttribute, setText, showText } from "./dom.ts";
import { createLockStatuses } from "./lock-statuses.ts";
import { runCharts } from "./run-charts.tsx";
import { byStart, RunRow } from "./run-list.tsx";
import { openStatusStream, showScheduler } from "./site.ts";
import { soonOnce } from "./soon-once.ts";

const name = byId("agent").dataset.agent ?? "";
const shownRuns = 30;
const readDetail = wireAgentDetail(name);
const locks = createLockStatuses();
let shown: AgentStatus | null = null;
let isPaused = false;

const readRuns = soonOnce(async () => {
  const path = `/api/stats/triggers?agent=${encodeURIComponent(name)}&limit=${shownRuns}`;
  const fetched = await getJson<HistoryPage>(path);
  if (!fetched.ok) return;
  const triggers = byStart(fetched.value.triggers);
  render(
    triggers.map((run) => <RunRow key={run.id} run={run} />),
    byId("run-rows"),
  );
  const charts = runCharts(triggers);
  render(charts, byId("charts"));
  byId("runs").hidden = triggers.length === 0;
  byId("charts").hidden = charts.length === 0;
  byId("runs-empty").hidden = triggers.length > 0;
});

function showAgent(agent: AgentStatus): void {
  shown = agent;
  const { running, scale, queued, queueSize, title, description } = agent;
  byId("gone").hidden = true;
  showState(agent.state);
  showText("disabled", disabledText(agent));
  const load = [
    ...(running > 0 ? [`${running} of ${scale} running`] : []),
    ...(queued > 0 ? [`${queued} of ${queueSize} queued`] : []),
  ];
  setText(byId("load"), load.join(" · "));
  const words = [title === agent.name ? null : title, description];
  showText("description", [...new Set(words.filter((text) => text !== null))].join(": "));
  showText("agent-error", agent.error && plainText(agent.error));
  showText("agent-warning", agent.warning && plainText(agent.warning));
  showText("status-text", agent.statusText && plainText(agent.statusText));
  showAgentActions(agent, false);
  showTicksNote(isPaused, agent.enabled);
}

function showState(state: AgentStatus["state"] | null): void {
  setText(byId("state"), state ?? "gone");
  setAttribute(byId("state"), "class", `pill ${state ?? ""}`.trim());
}

function showGone(): void {
  byId("gone").hidden = false;
  showState(null);
  if (shown !== null) showAgentActions(shown, true);
}

function showPause({ paused }: { readonly paused: boolean }): void {
  isPaused = paused;
  showTicksNote(isPaused, shown?.enabled ?? true);
}

function showSnapshot(snapshot: StatusSnapshot): void {
  const { scheduler, agents } = snapshot;
  showScheduler(scheduler, name);
  showPause(scheduler);
  const agent = agents.find((each) => each.name === name);
  if (agent === undefined) showGone();
  else showAgent(agent);
  locks.reset(snapshot);
  showAgentLocks(name, locks.all());
  readDetail();
  readRuns();
}

function showUpdate(update: StatusUpdate): void {
  const { scheduler, agents, removed, logs } = update;
  if (locks.apply(update)) showAgentLocks(name, locks.all());
  if (scheduler !== undefined) {
    showScheduler(scheduler, name);
    showPause(scheduler);
  }
  if (removed?.includes(name) === true) showGone();
  const agent = agents?.find((each) => each.name === name);
  if (agent !== undefined) {
    showAgent(agent);
    readRuns();
  }
  // A line of the scheduler about an agent, and of no run, is mostly a change to its files.
  const isNoted = logs?.some((line) => line.agent === name && line.instanceId === null) === true;
  if (agent !== undefined || isNoted) readDetail();
}

wirePrompt(name);
openStatusStream({ snapshot: showSnapshot, update: showUpdate });
