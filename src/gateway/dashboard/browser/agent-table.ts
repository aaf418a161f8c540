import type { AgentStatus } from "../../../../streams/status/wire.ts";
import { createAgentRow } from "./agent-row.ts";
import type { AgentRow, PauseState } from "./agent-row.ts";
import { byId } from "./dom.ts";

/** The table of agents, in the order of their names. */
export interface AgentTable {
  /** The rows as they are now; those that are not among them go. */
  replace(agents: readonly AgentStatus[]): void;
  change(agents: readonly AgentStatus[]): void;
  remove(names: readonly string[]): void;
  /** A scheduler that is paused or stops has no next runs. */
  setScheduler(scheduler: PauseState): void;
  tick(now: number): void;
  readonly agents: ReadonlyMap<string, AgentStatus>;
}

/** A project with fewer agents needs no filter. */
const filterFrom = 10;

/** Fills the page's table. */
export function createAgentTable(): AgentTable {
  const body = byId("agents");
  const filter = byId("agent-filter", HTMLInputElement);
  const rows = new Map<string, AgentRow>();
  const agents = new Map<string, AgentStatus>();
  /** Names in the order of the rows. */
  let order: string[] = [];
  let scheduler: PauseState = { paused: false, draining: false };

  const matches = ({ name, title, state, triggers, enabled }: AgentStatus): boolean => {
    const words = filter.value.toLowerCase().split(/\s+/);
    const text = [name, title, state, enabled ? "" : "disabled", ...triggers].join(" ");
    return words.every((word) => text.toLowerCase().includes(word));
  };
  const showFilter = (): void => {
    filter.hidden = agents.size < filterFrom && filter.value === "";
    byId("none-match").hidden =
      filter.value === "" || [...rows.values()].some(({ element }) => !element.hidden);
  };
  const show = (agent: AgentStatus): void => {
    agents.set(agent.name, agent);
    const row = rows.get(agent.name) ?? insert(agent.name);
    row.show(agent, scheduler);
    row.element.hidden = !matches(agent);
  };
  const insert = (name: string): AgentRow => {
    const row = createAgentRow(name);
    rows.set(name, row);
    const index = positionOf(name, order);
    const next = order[index];
    const nextRow = next === undefined ? undefined : rows.get(next);
    if (nextRow === undefined) body.append(row.element);
    else nextRow.element.before(row.element);
    order.splice(index, 0, name);
    return row;
  };
  const remove = (name: string): void => {
    rows.get(name)?.element.remove();
    rows.delete(name);
    agents.delete(name);
    order = order.filter((other) => other !== name);
  };

  filter.addEventListener("input", () => {
    for (const [name, agent] of agents) {
      const row = rows.get(name);
      if (row !== undefined) row.element.hidden = !matches(agent);
    }
    showFilter();
  });

  return {
    agents,
    replace: (now) => {
      const names = new Set(now.map(({ name }) => name));
      for (const name of [...rows.keys()]) if (!names.has(name)) remove(name);
      for (const agent of now) show(agent);
      showFilter();
    },
    change: (changed) => {
      for (const agent of changed) show(agent);
      if (changed.length > 0) showFilter();
    },
    remove: (names) => {
      for (const name of names) remove(name);
      showFilter();
    },
    setScheduler: ({ paused, draining }) => {
      if (paused === scheduler.paused && draining === scheduler.draining) return;
      scheduler = { paused, draining };
      for (const agent of agents.values()) rows.get(agent.name)?.show(agent, scheduler);
    },
    tick: (now) => {
      for (const row of rows.values()) row.tick(now);
    },
  };
}

/** Where a name belongs among sorted ones. */
function positionOf(name: string, sorted: readonly string[]): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((sorted[middle] ?? "") < name) low = middle + 1;
    else high = middle;
  }
  return low;
}
