import type { atTerminalOf, OperationContext } from "../../operations/table.ts";
import type { AgentStatus } from "../../../../streams/status/wire.ts";
import { byUrgency, hasWords } from "../../views/agent-order.ts";
import type { Colors } from "../terminal/output.ts";

/** The scheduler's own status and operations, and the ways to end it. */
export interface ViewSource {
  readonly operations: Pick<OperationContext, "status" | "stopping" | "audit"> & {
    readonly perform: ReturnType<typeof atTerminalOf>;
  };
  readonly projectDir: string;
  readonly webUi: boolean;
  /** Path of the key that the dashboard's login page asks for. */
  readonly apiKeyPath: string;
  /** A login link; null once it was used. */
  readonly loginUrl: () => string | null;
  readonly colors: Colors;
  /** Lets runs finish, then ends; a second call changes nothing. */
  readonly stop: () => void;
  /** Ctrl-C: stops, and the second time at once. */
  readonly interrupt: () => void;
}

/** The view's own state: the selected agent, and the last line. The agents themselves are in the status. */
export interface ViewState {
  /** By name, so that the selection stays with the agent when others come and go. */
  readonly selected: string | null;
  /** The selected agent's last place, used when the agent is removed. */
  readonly index: number;
  /** A command that waits for the person's yes. */
  readonly question:
    | { readonly command: "run" | "kill"; readonly agent: string }
    | { readonly command: "pause" }
    | null;
  /** Words of the agents that are shown; empty for all. */
  readonly filter: string;
  /** Keys write the filter. */
  readonly isFiltering: boolean;
  readonly message: Message | null;
}

/** A text that the last line shows instead of the keys. */
export interface Message {
  readonly text: string;
  readonly isError: boolean;
}

export const firstView: ViewState = {
  selected: null,
  index: 0,
  question: null,
  filter: "",
  isFiltering: false,
  message: null,
};

/** The agents of the screen, the most urgent first. */
export function shownAgents(
  agents: readonly AgentStatus[],
  { filter }: ViewState,
): readonly AgentStatus[] {
  return byUrgency(agents.filter((agent) => hasWords(agent, filter)));
}

type Agents = readonly { readonly name: string }[];

/** The view with the selection moved down by this many agents, within both ends. */
export function moved(view: ViewState, by: number, agents: Agents): ViewState {
  const index = within(agents, selectedIndex(view, agents) + by);
  return { ...view, index, selected: agents[index]?.name ?? null };
}

/** The selected agent's place; its last one if it was removed, 0 without agents. */
export function selectedIndex({ selected, index }: ViewState, agents: Agents): number {
  const found = selected === null ? -1 : agents.findIndex(({ name }) => name === selected);
  return within(agents, found === -1 ? index : found);
}

function within({ length }: Agents, index: number): number {
  return Math.max(0, Math.min(length - 1, index));
}
