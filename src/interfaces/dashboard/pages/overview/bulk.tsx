import { useMemo, useState } from "preact/hooks";
import type { AgentStatus } from "../../../../../streams/status/wire.ts";
import { counted } from "../../../../foundation/contracts/format.ts";
import { refusalsOf } from "../../live/agent-requests.ts";
import { fetchJson } from "../../live/api.ts";
import { announce, showToast } from "../../live/toasts.ts";
import { Dialog, useDialog } from "../../kit/dialog.tsx";

/** The agents that a reader selected among the shown ones: no action applies to a hidden agent. */
export function useSelection(shown: readonly AgentStatus[]) {
  const [names, setNames] = useState<ReadonlySet<string>>(new Set());
  const agents = shown.filter(({ name }) => names.has(name));
  const select = useMemo(
    () => (name: string, isSelected: boolean) =>
      setNames(
        (now) => new Set([...now].filter((one) => one !== name).concat(isSelected ? name : [])),
      ),
    [],
  );
  return {
    agents,
    has: (name: string) => names.has(name),
    select,
    isAll: agents.length > 0 && agents.length === shown.length,
    selectAll: (isSelected: boolean) =>
      setNames(new Set(isSelected ? shown.map(({ name }) => name) : [])),
    clear: () => setNames(new Set()),
  };
}

export type Selection = ReturnType<typeof useSelection>;

/** An action on several agents: its word, its request, and why an agent is skipped. */
interface BulkAction {
  readonly word: string;
  readonly path: (agent: string) => string;
  readonly whyNot: (agent: AgentStatus) => string | null;
}

const actions: readonly [BulkAction, ...BulkAction[]] = [
  {
    word: "Run",
    path: (agent) => `/control/trigger/${agent}`,
    whyNot: (agent) => refusalsOf(agent).run,
  },
  {
    word: "Disable",
    path: (agent) => `/control/agents/${agent}/disable`,
    whyNot: (agent) => (agent.enabled ? null : "It is disabled"),
  },
  {
    word: "Enable",
    path: (agent) => `/control/agents/${agent}/enable`,
    whyNot: (agent) => (agent.enabled ? "It is enabled" : refusalsOf(agent).toggle),
  },
];

const atOnce = 4;
const namedAgents = 12;

/** The bar with the actions on the selected agents, at the lower edge of the screen; each asks once, with the names. */
export function BulkActions({ agents: selected, clear }: Selection) {
  const dialog = useDialog();
  const [{ word, path, whyNot }, setAction] = useState<BulkAction>(actions[0]);
  const [agents, setAgents] = useState<readonly AgentStatus[]>([]);
  const names = agents.filter((agent) => whyNot(agent) === null).map(({ name }) => name);
  const left = agents.filter((agent) => whyNot(agent) !== null);
  const more = names.length - namedAgents;
  const act = async (): Promise<void> => {
    await actOn(word, path, names);
    clear();
  };
  return (
    <>
      <section class="bulk" id="bulk" aria-label="Selected agents" hidden={selected.length === 0}>
        <span id="bulk-count" role="status">
          {counted(selected.length, "agent")} selected
        </span>
        <div class="end" role="group" aria-label="Do with all of them">
          {actions.map((action) => (
            <button
              class="button acts"
              type="button"
              key={action.word}
              onClick={() => {
                setAction(action);
                setAgents(selected);
                dialog.open();
              }}
            >
              {action.word} …
            </button>
          ))}
          <button class="button" type="button" onClick={clear}>
            Clear
          </button>
        </div>
      </section>
      <Dialog
        id="bulk-dialog"
        title={`${word} ${counted(names.length, "agent")}?`}
        confirm={word}
        isConfirmDisabled={names.length === 0}
        onConfirm={() => void act()}
        {...dialog}
      >
        <p id="bulk-names">
          {names.slice(0, namedAgents).join(", ")}
          {more > 0 && ` and ${more} more`}
        </p>
        <div hidden={left.length === 0}>
          <p class="muted">Left out:</p>
          <ul class="muted" id="bulk-left">
            {left.map((agent) => (
              <li key={agent.name}>
                {agent.name}: {whyNot(agent)}
              </li>
            ))}
          </ul>
        </div>
      </Dialog>
    </>
  );
}

async function actOn(
  word: string,
  path: BulkAction["path"],
  names: readonly string[],
): Promise<void> {
  const waiting = [...names];
  const failed: string[] = [];
  const work = async (): Promise<void> => {
    for (let name = waiting.shift(); name !== undefined; name = waiting.shift()) {
      const answer = await fetchJson(path(encodeURIComponent(name)), { method: "POST" });
      if (!answer.ok) failed.push(`${name}: ${answer.detail}`);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, work));
  const all = counted(names.length, "agent");
  announce(`${word}: ${counted(names.length - failed.length, "agent")}`);
  if (failed.length > 0) {
    showToast(`${word}: ${failed.length} of ${all} refused. ${failed.slice(0, 3).join(" ")}`);
  }
}
