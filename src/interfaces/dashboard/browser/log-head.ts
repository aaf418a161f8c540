import type { AgentStatus } from "../../../../streams/status/wire.ts";
import { offer, onPress } from "./actions.ts";
import { wireKill } from "./agent-kill.ts";
import { refusalsOf, triggerRun } from "./agent-requests.ts";
import { showAgentState, showGoneState } from "./agent-state.ts";
import { byId } from "./dom.ts";
import { costText } from "./format.ts";

/** Connects the buttons of a log's head; returns how to show the agent in it. The scheduler's log has no agent. */
export function wireLogHead(name: string): (agent: AgentStatus | null) => void {
  if (name === "scheduler") return () => undefined;
  const run = byId("run");
  const showKill = wireKill(byId("kill"), name);
  onPress(run, () => triggerRun(name));
  return (agent) => {
    if (agent === null) showGoneState();
    else showAgentState(agent, spentText(agent));
    showKill(agent?.running ?? 0);
    offer(run, agent === null ? "There is no such agent any more" : refusalsOf(agent).run);
  };
}

function spentText({ spentToday }: AgentStatus): readonly string[] {
  const isToday = spentToday !== null && Date.parse(spentToday.endsAt) > Date.now();
  return isToday ? [`${costText(spentToday.usd)} today`] : [];
}
