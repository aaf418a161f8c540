import { describe, expect, it } from "vitest";
import { agentEvent } from "../../../streams/agents/agent-event.ts";
import type { ActiveConfig } from "../../../streams/agents/active-config.ts";
import type { AgentConfig } from "../../../streams/agent-config.ts";
import type { AgentChange, Problem } from "../../../streams/vocabulary.ts";
import { anAgent } from "../../helpers/agents.ts";

const agent = anAgent("dev");
const set: AgentChange = { type: "set", agent, warnings: [] };
const problem: Problem = {
  severity: "error",
  file: "agents/dev/config.toml",
  line: 4,
  column: 12,
  message: "scale is not a number",
};

/** The event of a change, and what it says that differs from an agent that was there before. */
function eventOf(change: AgentChange, before: AgentConfig | null = null, differs = "") {
  const active: ActiveConfig = { change, present: true, before, config: agent, wasInvalid: false };
  return agentEvent(active, 5, () => differs);
}

describe("the event of an agent's change", () => {
  it("says that an agent was loaded, with its warnings", () => {
    const warning: Problem = { ...problem, severity: "warning" };
    expect(eventOf({ ...set, warnings: [warning] })).toEqual({
      type: "agent-set",
      agent: "dev",
      at: 5,
      config: agent,
      warnings: [warning],
      summary: "loaded",
    });
  });

  it("says what changed", () => {
    expect(eventOf(set, agent, "scale 1 → 2")).toMatchObject({ summary: "scale 1 → 2" });
  });

  it("says that a config is valid again, or that only its warnings differ", () => {
    const unchanged = { change: set, present: true, before: agent, config: agent };
    const said = [true, false].map((wasInvalid) =>
      agentEvent({ ...unchanged, wasInvalid }, 5, () => ""),
    );
    expect(said).toMatchObject([{ summary: "valid again" }, { summary: "warnings changed" }]);
  });

  it("says what differs from the config before, not from nothing", () => {
    const titles: string[] = [];
    const before = anAgent("dev", { title: "old" });
    const active = { change: set, present: true, before, config: agent, wasInvalid: false };
    agentEvent(active, 5, (old, now) => {
      titles.push(old.title, now.title);
      return "";
    });
    expect(titles).toEqual(["old", "dev"]);
  });

  it("says what is wrong, and that the last good config counts where there was one", () => {
    const change: AgentChange = {
      type: "invalid",
      name: "dev",
      problems: [problem, problem],
      sources: [],
    };
    const message = "scale is not a number; the last valid config stays active";
    const at = { type: "agent-invalid", agent: "dev", at: 5, sources: [] };
    expect(eventOf(change, agent)).toEqual({ ...at, problems: [{ ...problem, message }, problem] });
    const first = { change, present: true, before: null, config: null, wasInvalid: false };
    expect(agentEvent(first, 5, () => "")).toEqual({ ...at, problems: [problem, problem] });
  });

  it("says that the directory is gone", () => {
    const event = { type: "agent-removed", agent: "dev", at: 5 };
    expect(eventOf({ type: "removed", name: "dev" }, agent)).toEqual(event);
  });
});
