import { render } from "preact";
import type { AgentStatus } from "../../../../streams/status/wire.ts";
import { AgentRow } from "./agent-row.tsx";
import type { PauseState } from "./agent-row.tsx";
import { byId } from "./dom.ts";

/** The table of agents, in the order of their names. */
export interface AgentTable {
  /** Shows these agents, all that there are. A scheduler that is paused or stops has no next runs. */
  show(agents: Iterable<AgentStatus>, scheduler: PauseState): void;
}

/** A project with fewer agents needs no filter. */
const filterFrom = 10;

/** Fills the page's table. */
export function createAgentTable(): AgentTable {
  const filter = byId("agent-filter", HTMLInputElement);
  let agents: readonly AgentStatus[] = [];
  let scheduler: PauseState = { paused: false, draining: false };

  const draw = (): void => {
    const words = filter.value.toLowerCase().split(/\s+/);
    const rows = agents.map((agent) => (
      <AgentRow
        key={agent.name}
        agent={agent}
        scheduler={scheduler}
        isHidden={!matches(agent, words)}
      />
    ));
    render(rows, byId("agents"));
    filter.hidden = agents.length < filterFrom && filter.value === "";
    byId("none-match").hidden =
      filter.value === "" || agents.some((agent) => matches(agent, words));
  };
  filter.addEventListener("input", draw);
  return {
    show: (now, { paused, draining }) => {
      agents = [...now].sort((a, b) => (a.name < b.name ? -1 : 1));
      // The same object when nothing changed: rows are rendered again by it.
      if (paused !== scheduler.paused || draining !== scheduler.draining) {
        scheduler = { paused, draining };
      }
      draw();
    },
  };
}

function matches(agent: AgentStatus, words: readonly string[]): boolean {
  const { name, title, state, triggers, enabled } = agent;
  const text = [name, title, state, enabled ? "" : "disabled", ...triggers].join(" ").toLowerCase();
  return words.every((word) => text.includes(word));
}
