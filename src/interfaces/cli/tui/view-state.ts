import type { AgentStatus } from "../../../../streams/status/wire.ts";
import type { Operations } from "../../../foundation/contracts/operations.ts";
import type { Colors } from "../terminal/output.ts";

/** The view's own state: what is selected and shown. What agents do is in the status. */
export interface ViewState {
  readonly screen: "agents" | "help";
  /** By name, so that the selection stays with the agent when others come and go. */
  readonly selected: string | null;
  /** Where it was, for when the agent goes. */
  readonly index: number;
  /** What is done once the person confirms. */
  readonly question: Question | null;
  /** Only agents with this in their names are shown; null for all. */
  readonly search: string | null;
  /** Whether keys are letters of the search. */
  readonly isSearching: boolean;
  readonly message: Message | null;
}

/** What is asked before it is done to an agent. */
export interface Question {
  readonly command: "run" | "disable" | "kill";
  readonly agent: string;
}

/** What the last line shows instead of the keys. */
export interface Message {
  readonly text: string;
  readonly isError: boolean;
}

export type ViewAction =
  | { readonly type: "move"; readonly by: number; readonly names: readonly string[] }
  | { readonly type: "show"; readonly screen: ViewState["screen"] }
  | { readonly type: "ask"; readonly question: Question | null }
  | { readonly type: "search"; readonly text: string | null; readonly isSearching: boolean }
  | { readonly type: "message"; readonly message: Message | null };

export const firstView: ViewState = {
  screen: "agents",
  selected: null,
  index: 0,
  question: null,
  search: null,
  isSearching: false,
  message: null,
};

/** (view, action) → view. */
export function reduceView(view: ViewState, action: ViewAction): ViewState {
  switch (action.type) {
    case "move": {
      const { names, by } = action;
      const index = within(names.length, selectedIndex(view, names) + by);
      return { ...view, index, selected: names[index] ?? null };
    }
    case "show":
      return { ...view, screen: action.screen, message: null };
    case "ask":
      return { ...view, question: action.question, message: null };
    case "search": {
      const { text, isSearching } = action;
      // The selected agent stays so while it is shown.
      return { ...view, search: text, isSearching, index: 0, message: null };
    }
    case "message":
      return { ...view, message: action.message };
  }
}

/** The agents that the search leaves. */
export function shownAgents(
  agents: readonly AgentStatus[],
  { search }: Pick<ViewState, "search">,
): readonly AgentStatus[] {
  if (search === null || search === "") return agents;
  const wanted = search.toLowerCase();
  return agents.filter(({ name }) => name.includes(wanted));
}

/** The selected agent's place among the names; where it was when it is gone, 0 when there is none. */
export function selectedIndex(
  { selected, index }: Pick<ViewState, "selected" | "index">,
  names: readonly string[],
): number {
  const found = selected === null ? -1 : names.indexOf(selected);
  return within(names.length, found === -1 ? index : found);
}

function within(length: number, index: number): number {
  return Math.max(0, Math.min(length - 1, index));
}

/** What the live view reads and asks for: the scheduler's own status and operations, and the way to end it. */
export interface ViewSource {
  readonly operations: Pick<
    Operations,
    "snapshot" | "update$" | "phase" | "setPaused" | "setEnabled" | "trigger" | "killAgent"
  >;
  readonly projectDir: string;
  readonly webUi: boolean;
  /** As it is shown. */
  readonly apiKeyPath: string;
  readonly loginUrl: () => string | null;
  /** How long running runs get when it stops. */
  readonly graceSeconds: number;
  readonly colors: Colors;
  /** Lets runs finish, then ends; again is nothing new. */
  readonly stop: () => void;
  /** What Ctrl-C does: stops, and the second time at once. */
  readonly interrupt: () => void;
}
