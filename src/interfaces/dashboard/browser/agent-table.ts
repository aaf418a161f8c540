import type { AgentStatus } from "../../../../streams/status/wire.ts";
import { createAgentFilters } from "./agent-filters.ts";
import { isNarrow, meets } from "./agent-filter.ts";
import { sortAgents } from "./agent-order.ts";
import { createAgentRow } from "./agent-row.ts";
import type { PauseState, ShownAgent } from "./agent-row.ts";
import { createBulk } from "./bulk.ts";
import { byId, showText } from "./dom.ts";
import { createViews } from "./views.ts";

/** The table of agents, with its filter and its order. */
export interface AgentTable {
  /** Shows these agents, all that there are. A scheduler that is paused or stops has no next runs. */
  show(agents: Iterable<AgentStatus>, scheduler: PauseState): void;
  tick(now: number): void;
}

/** A project with fewer agents has room for more than a line of each. */
const denseFrom = 10;
/** Rows of the first frame, more than a screen has room for; the others follow in the next one. */
const firstRows = 50;
/** A browser takes seconds for the rows of thousands of agents, and again for each change of one of them. */
const mostRows = 500;

/** Fills the page's table. `onFilter` gets the agents that the filter leaves, null for no filter. */
export function createAgentTable(
  onFilter: (names: ReadonlySet<string> | null) => void,
): AgentTable {
  const rows = byId("agents");
  const bulk = createBulk(() => draw());
  const views = createViews<ShownAgent>(
    rows,
    ({ agent }) => agent.name,
    (shown) => createAgentRow(shown, bulk.select),
  );
  const filters = createAgentFilters(() => draw());
  const order = createOrder(rows);
  let agents: readonly AgentStatus[] = [];
  let scheduler: PauseState = { paused: false, draining: false };
  let rowLimit = firstRows;

  const draw = (): void => {
    const filter = filters.current();
    const shown = agents.filter((agent) => meets(agent, filter));
    const names = new Set(shown.map(({ name }) => name));
    const ordered = order.of(sortAgents(agents, filter.sort, Date.now()), filter.sort);
    const isMany = agents.length > mostRows;
    const inTable = isMany
      ? ordered.filter(({ name }) => names.has(name)).slice(0, mostRows)
      : ordered;
    bulk.show(isMany ? inTable : shown);
    const items = inTable.map((agent) => {
      const { name } = agent;
      return { agent, scheduler, isHidden: !names.has(name), isSelected: bulk.isSelected(name) };
    });
    keepingFocus(() => views.show(items.slice(0, rowLimit)));
    if (items.length > rowLimit) drawRest();
    filters.show(agents, shown.length);
    byId("table").classList.toggle("dense", agents.length >= denseFrom);
    byId("table").classList.toggle("single", agents.length < 2);
    byId("none-match").hidden = shown.length > 0;
    const isCut = isMany && shown.length > mostRows;
    showText("more-agents", isCut ? moreText(shown.length) : null);
    onFilter(isNarrow(filter) ? names : null);
  };
  const drawRest = (): void => {
    rowLimit = Infinity;
    requestAnimationFrame(() => setTimeout(draw));
  };
  return {
    show: (now, { paused, draining }) => {
      agents = [...now];
      // The same object when nothing changed: by it a row knows that it is up to date.
      if (paused !== scheduler.paused || draining !== scheduler.draining) {
        scheduler = { paused, draining };
      }
      draw();
    },
    tick: views.tick,
  };
}

function moreText(agents: number): string {
  const all = agents.toLocaleString("en");
  return `These are the first ${mostRows} of ${all} agents. Filter to find the others.`;
}

/** Keeps rows where they are while the pointer is over them: a press must not meet another agent. */
function createOrder(rows: HTMLElement): {
  of(agents: readonly AgentStatus[], sort: object): readonly AgentStatus[];
} {
  let places = new Map<string, number>();
  let sorted: object | null = null;
  return {
    of: (agents, sort) => {
      const isHeld = sort === sorted && rows.matches(":hover");
      sorted = sort;
      const placeOf = ({ name }: AgentStatus): number => places.get(name) ?? Infinity;
      const ordered = isHeld
        ? [...agents].sort((a, b) => Math.sign(placeOf(a) - placeOf(b)) || 0)
        : agents;
      places = new Map(ordered.map(({ name }, place) => [name, place]));
      return ordered;
    },
  };
}

/** A row that moves would lose the focus that is in it. */
function keepingFocus(change: () => void): void {
  const focused = document.activeElement;
  change();
  if (focused instanceof HTMLElement && focused !== document.activeElement) {
    focused.focus({ preventScroll: true });
  }
}
