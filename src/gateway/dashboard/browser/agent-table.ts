import type { AgentStatus } from "../../../../streams/status/wire.ts";
import { createAgentRow } from "./agent-row.ts";
import type { PauseState, ShownAgent } from "./agent-row.ts";
import { byId } from "./dom.ts";
import { createViews } from "./views.ts";

/** The table of agents, in the order of their names. */
export interface AgentTable {
  /** Shows these agents, all that there are. A scheduler that is paused or stops has no next runs. */
  show(agents: Iterable<AgentStatus>, scheduler: PauseState): void;
  tick(now: number): void;
}

/** A project with fewer agents needs no filter. */
const filterFrom = 10;

/** Fills the page's table. */
export function createAgentTable(): AgentTable {
  const filter = byId("agent-filter", HTMLInputElement);
  const views = createViews<ShownAgent>(byId("agents"), ({ agent }) => agent.name, createAgentRow);
  let agents: readonly AgentStatus[] = [];
  let scheduler: PauseState = { paused: false, draining: false };

  const draw = (): void => {
    const words = filter.value.toLowerCase().split(/\s+/);
    const shown = agents.map((agent) => {
      return { agent, scheduler, isHidden: !matches(agent, words) };
    });
    views.show(shown);
    filter.hidden = agents.length < filterFrom && filter.value === "";
    byId("none-match").hidden = filter.value === "" || shown.some(({ isHidden }) => !isHidden);
  };
  filter.addEventListener("input", draw);
  return {
    show: (now, { paused, draining }) => {
      agents = [...now].sort((a, b) => (a.name < b.name ? -1 : 1));
      // The same object when nothing changed: by it a row knows that it is up to date.
      if (paused !== scheduler.paused || draining !== scheduler.draining) {
        scheduler = { paused, draining };
      }
      draw();
    },
    tick: views.tick,
  };
}

function matches(agent: AgentStatus, words: readonly string[]): boolean {
  const { name, title, state, triggers, enabled } = agent;
  const text = [name, title, state, enabled ? "" : "disabled", ...triggers].join(" ").toLowerCase();
  return words.every((word) => text.includes(word));
}
