import type { AgentStatus } from "../../../../streams/status/wire.ts";
import { disabledText, runningCostText } from "../../../foundation/contracts/agent-columns.ts";
import { byId, setAttribute, setText, showText } from "./dom.ts";

/** Shows in the head of a page what an agent does now; `more` stands behind its load. */
export function showAgentState(agent: AgentStatus, more: readonly string[] = []): void {
  setText(byId("state"), agent.state);
  setAttribute(byId("state"), "class", `pill ${agent.state}`);
  showText("disabled", disabledText(agent));
  const cost = runningCostText(agent);
  const load = [
    ...(agent.running > 0 ? [`${agent.running} of ${agent.scale} running`] : []),
    ...(cost === null ? [] : [cost]),
    ...(agent.queued > 0 ? [`${agent.queued} of ${agent.queueSize} queued`] : []),
    ...more,
  ];
  setText(byId("load"), load.join(" · "));
}

/** The same of an agent that is no longer in the project. */
export function showGoneState(): void {
  setText(byId("state"), "gone");
  setAttribute(byId("state"), "class", "pill");
  byId("disabled").hidden = true;
  setText(byId("load"), "");
}
