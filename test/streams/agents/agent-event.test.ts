import { agentEvent } from "../../../streams/agents/agent-event.ts";
import type { ActiveConfig } from "../../../streams/agents/active-config.ts";
import type { AgentChange } from "../../../streams/vocabulary.ts";
import { anAgent } from "../../helpers/agents.ts";
import { aProblem } from "../status/events.ts";

const agent = anAgent("dev");
const warnings = [aProblem({ severity: "warning" })];
const set: AgentChange = { type: "set", agent, warnings };
const problem = aProblem();

/** The event of a change after this config. */
function eventOf(change: AgentChange, more: Partial<ActiveConfig> = {}) {
  const active = { present: true, before: null, config: agent, wasInvalid: false, ...more };
  return agentEvent({ ...active, change }, 5, (before, after) =>
    before.title === after.title ? "" : `${before.title} → ${after.title}`,
  );
}

test.each<[name: string, summary: string, more: Partial<ActiveConfig>]>([
  ["was loaded", "loaded", {}],
  ["has another title", "old → dev", { before: anAgent("dev", { title: "old" }) }],
  ["is valid again", "valid again", { before: agent, wasInvalid: true }],
  ["changed in its warnings only", "warnings changed", { before: agent }],
])("the event about an agent that %s has the summary %j", (_name, summary, more) => {
  const at = { type: "agent-set", agent: "dev", at: 5 };
  expect(eventOf(set, more)).toEqual({ ...at, config: agent, warnings, summary });
});

test("the event about invalid config files says if the last valid config stays active", () => {
  const problems = [problem, problem];
  const change: AgentChange = { type: "invalid", name: "dev", problems, sources: [] };
  const message = "scale is not a number; the last valid config stays active";
  const at = { type: "agent-invalid", agent: "dev", at: 5, sources: [] };
  const shown = [{ ...problem, message }, problem];
  expect(eventOf(change, { before: agent })).toEqual({ ...at, problems: shown });
  expect(eventOf(change, { config: null })).toEqual({ ...at, problems });
});

test("the event about a removed directory is the agent's removal", () => {
  const event = { type: "agent-removed", agent: "dev", at: 5 };
  expect(eventOf({ type: "removed", name: "dev" }, { before: agent })).toEqual(event);
});
