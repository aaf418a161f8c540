import type { AgentStatus } from "../../../../streams/status/wire.ts";
import { counted } from "../../../foundation/contracts/format.ts";
import { filterOf, groupsOf, isNarrow, queryOf } from "./agent-filter.ts";
import type { AgentFilter } from "./agent-filter.ts";
import { isDescending, sortOf } from "./agent-order.ts";
import { byId, childrenOf, create, setAttribute, setText } from "./dom.ts";

/** The overview's filter: its controls, and the address. */
export interface AgentFilters {
  readonly current: () => AgentFilter;
  /** Shows how many agents are of each kind, and which tags there are. */
  show(agents: readonly AgentStatus[], shown: number): void;
}

/** A project with fewer agents has nothing to filter. */
const filterFrom = 2;

/** Wires the page's controls; `onChange` is called when another filter or order is chosen. */
export function createAgentFilters(onChange: () => void): AgentFilters {
  let filter = filterOf(new URLSearchParams(location.search));
  const [words, tag, sort] = [
    byId("agent-filter", HTMLInputElement),
    byId("agent-tag", HTMLSelectElement),
    byId("agent-sort", HTMLSelectElement),
  ];
  const chips = childrenOf(byId("agent-states"));
  const headers = [...document.querySelectorAll<HTMLElement>("th [data-sort]")];

  const showChoice = (): void => {
    if (words.value.trim() !== filter.q) words.value = filter.q;
    sort.value = filter.sort.by;
    for (const chip of chips) {
      setAttribute(chip, "aria-pressed", String((chip.dataset.state ?? "") === filter.state));
    }
    for (const header of headers) {
      const isSorted = header.dataset.sort === filter.sort.by;
      const order = isDescending(filter.sort) ? "descending" : "ascending";
      if (header.parentElement !== null) {
        setAttribute(header.parentElement, "aria-sort", isSorted ? order : null);
      }
    }
  };
  const change = (next: Partial<AgentFilter>): void => {
    filter = { ...filter, ...next };
    const query = queryOf(filter);
    history.replaceState(null, "", query === "" ? location.pathname : `?${query}`);
    showChoice();
    onChange();
  };

  words.addEventListener("input", () => change({ q: words.value.trim() }));
  tag.addEventListener("change", () => change({ tag: tag.value }));
  sort.addEventListener("change", () => change({ sort: sortOf(sort.value) }));
  byId("agent-all").addEventListener("click", () => change({ q: "", state: "", tag: "" }));
  for (const chip of chips) {
    const { state } = filterOf(new URLSearchParams({ state: chip.dataset.state ?? "" }));
    // A second press takes the filter away again.
    chip.addEventListener("click", () => change({ state: state === filter.state ? "" : state }));
  }
  for (const header of headers) {
    header.addEventListener("click", () => {
      const { by, isReversed } = filter.sort;
      const chosen = sortOf(header.dataset.sort ?? "");
      change({ sort: chosen.by === by ? { by, isReversed: !isReversed } : chosen });
    });
  }
  showChoice();
  return {
    current: () => filter,
    show: (agents, shown) => {
      const isUsed = agents.length >= filterFrom || isNarrow(filter);
      byId("agent-filters").hidden = !isUsed;
      showCounts(chips, agents);
      showTags(tag, agents, filter.tag);
      const all = counted(agents.length, "agent");
      setText(byId("counts"), isNarrow(filter) ? `${shown} of ${all}` : all);
    },
  };
}

function showCounts(chips: readonly HTMLElement[], agents: readonly AgentStatus[]): void {
  const counts = new Map<string, number>();
  for (const group of agents.flatMap(groupsOf)) counts.set(group, (counts.get(group) ?? 0) + 1);
  for (const chip of chips) {
    const { state = "" } = chip.dataset;
    const count = state === "" ? agents.length : (counts.get(state) ?? 0);
    const [number] = childrenOf(chip);
    if (number !== undefined) setText(number, count.toLocaleString("en"));
    chip.classList.toggle("none", count === 0);
    // Most projects build no image, and most machines can start runs; the last chips move no other.
    if (state === "building" || state === "blocked") {
      chip.hidden = count === 0 && chip.getAttribute("aria-pressed") !== "true";
    }
  }
}

function showTags(select: HTMLSelectElement, agents: readonly AgentStatus[], chosen: string): void {
  const used = agents.flatMap(({ tags }) => tags);
  const tags = [...new Set(chosen === "" ? used : [...used, chosen])].sort();
  select.hidden = tags.length === 0;
  const values = ["", ...tags];
  const isSame = values.join() === [...select.options].map(({ value }) => value).join();
  if (!isSame) {
    select.replaceChildren(
      ...values.map((value) => {
        const option = create("option", "", value === "" ? "Any tag" : value);
        option.value = value;
        return option;
      }),
    );
  }
  if (select.value !== chosen) select.value = chosen;
}
