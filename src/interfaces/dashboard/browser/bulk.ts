import type { AgentStatus } from "../../../../streams/status/wire.ts";
import { counted } from "../../../foundation/contracts/format.ts";
import { announce, showToast } from "./actions.ts";
import { refusalsOf } from "./agent-requests.ts";
import { fetchJson } from "./api.ts";
import { byId, childrenOf, create, setText } from "./dom.ts";

/** The agents that a reader selected, and what is done with all of them at once. */
export interface Bulk {
  readonly select: (agent: string, isSelected: boolean) => void;
  readonly isSelected: (agent: string) => boolean;
  /** The agents that are shown: no other is selected, so that nothing happens to one that is not seen. */
  show(shown: readonly AgentStatus[]): void;
}

/** What can be done with several agents: its word, its request, and why an agent is left out. */
interface BulkAction {
  readonly word: string;
  readonly path: (agent: string) => string;
  readonly whyNot: (agent: AgentStatus) => string | null;
}

const actions: Readonly<Record<string, BulkAction>> = {
  run: {
    word: "Run",
    path: (agent) => `/control/trigger/${agent}`,
    whyNot: (agent) => refusalsOf(agent).run,
  },
  disable: {
    word: "Disable",
    path: (agent) => `/control/agents/${agent}/disable`,
    whyNot: (agent) => (agent.enabled ? null : "It is disabled"),
  },
  enable: {
    word: "Enable",
    path: (agent) => `/control/agents/${agent}/enable`,
    whyNot: (agent) => (agent.enabled ? "It is enabled" : refusalsOf(agent).toggle),
  },
};

/** Requests that are under way at once. */
const atOnce = 4;
const namedAgents = 12;

/** Wires the page's selection; `onChange` is called when another one is to be shown. */
export function createBulk(onChange: () => void): Bulk {
  const selected = new Set<string>();
  let shown: readonly AgentStatus[] = [];
  const all = byId("select-all", HTMLInputElement);
  const clear = (): void => {
    selected.clear();
    onChange();
  };
  const ofSelection = (): readonly AgentStatus[] => shown.filter(({ name }) => selected.has(name));

  all.addEventListener("change", () => {
    for (const { name } of shown) {
      if (all.checked) selected.add(name);
      else selected.delete(name);
    }
    onChange();
  });
  byId("bulk-clear").addEventListener("click", clear);
  const confirm = createConfirmation(clear);
  for (const button of childrenOf(byId("bulk-actions"))) {
    const action = actions[button.dataset.action ?? ""];
    if (action !== undefined)
      button.addEventListener("click", () => confirm(action, ofSelection()));
  }
  return {
    select: (agent, isSelected) => {
      if (isSelected) selected.add(agent);
      else selected.delete(agent);
      onChange();
    },
    isSelected: (agent) => selected.has(agent),
    show: (agents) => {
      shown = agents;
      const names = new Set(agents.map(({ name }) => name));
      for (const name of selected) if (!names.has(name)) selected.delete(name);
      byId("bulk").hidden = selected.size === 0;
      setText(byId("bulk-count"), `${counted(selected.size, "agent")} selected`);
      all.checked = selected.size > 0 && selected.size === agents.length;
      all.indeterminate = selected.size > 0 && selected.size < agents.length;
    },
  };
}

/** Asks once, with the names, and acts on those agents that it concerns. */
function createConfirmation(
  onDone: () => void,
): (action: BulkAction, agents: readonly AgentStatus[]) => void {
  const dialog = byId("bulk-dialog", HTMLDialogElement);
  const confirm = byId("bulk-confirm", HTMLButtonElement);
  let act: () => Promise<void> = () => Promise.resolve();
  byId("bulk-cancel").addEventListener("click", () => dialog.close());
  confirm.addEventListener("click", () => {
    dialog.close();
    void act();
  });
  return (action, agents) => {
    const meant = agents.filter((agent) => action.whyNot(agent) === null).map(({ name }) => name);
    const left = agents.filter(({ name }) => !meant.includes(name));
    setText(byId("bulk-title"), `${action.word} ${counted(meant.length, "agent")}?`);
    setText(byId("bulk-names"), namesText(meant));
    byId("bulk-left").replaceChildren(
      ...left.map((agent) => create("li", "", `${agent.name}: ${action.whyNot(agent) ?? ""}`)),
    );
    byId("bulk-left-out").hidden = left.length === 0;
    setText(confirm, action.word);
    confirm.disabled = meant.length === 0;
    act = async () => {
      await actOn(action, meant);
      onDone();
    };
    dialog.showModal();
  };
}

function namesText(names: readonly string[]): string {
  const more = names.length - namedAgents;
  const first = names.slice(0, namedAgents).join(", ");
  return more > 0 ? `${first} and ${more} more` : first;
}

async function actOn({ word, path }: BulkAction, names: readonly string[]): Promise<void> {
  const waiting = [...names];
  const failed: string[] = [];
  const work = async (): Promise<void> => {
    for (let name = waiting.shift(); name !== undefined; name = waiting.shift()) {
      const answer = await fetchJson(path(encodeURIComponent(name)), { method: "POST" });
      if (!answer.ok) failed.push(`${name}: ${answer.detail}`);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, work));
  announce(`${word}: ${counted(names.length - failed.length, "agent")}`);
  if (failed.length === 0) return;
  showToast(
    `${word}: ${failed.length} of ${counted(names.length, "agent")} refused. ${failed.slice(0, 3).join(" ")}`,
  );
}
