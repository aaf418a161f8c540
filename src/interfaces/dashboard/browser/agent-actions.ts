import type { AgentStatus } from "../../../../streams/status/wire.ts";
import { isOffered, offer, onPress } from "./actions.ts";
import { wireKill } from "./agent-kill.ts";
import { refusalsOf, setEnabled, triggerRun } from "./agent-requests.ts";
import { byId, setText } from "./dom.ts";

/** The buttons of an agent's page. */
export interface AgentActions {
  show(agent: AgentStatus): void;
  /** Disables the actions of an agent that is gone. */
  showGone(): void;
}

/** Connects the page's buttons. */
export function wireAgentActions(name: string): AgentActions {
  const [run, runWith, toggle, kill] = ["run", "run-with", "toggle", "kill"].map((id) => byId(id));
  if (!run || !runWith || !toggle || !kill) throw new Error("the page has no buttons");
  let isEnabled = true;
  const showKill = wireKill(kill, name);
  onPress(run, () => triggerRun(name));
  onPress(toggle, () => setEnabled(name, !isEnabled));
  wirePrompt(runWith, name);

  return {
    show: (agent) => {
      isEnabled = agent.enabled;
      const refusals = refusalsOf(agent);
      for (const button of [run, runWith]) offer(button, refusals.run);
      offer(toggle, refusals.toggle);
      setText(toggle, isEnabled ? "Disable" : "Enable");
      showKill(agent.running);
    },
    showGone: () => {
      for (const button of [run, runWith, toggle]) offer(button, "There is no such agent any more");
      showKill(0);
    },
  };
}

function wirePrompt(button: HTMLElement, name: string): void {
  const dialog = byId("prompt-dialog", HTMLDialogElement);
  const form = byId("prompt-form", HTMLFormElement);
  const input = byId("prompt", HTMLTextAreaElement);
  button.addEventListener("click", () => {
    if (isOffered(button)) dialog.showModal();
  });
  input.addEventListener("keydown", ({ key, ctrlKey, metaKey }) => {
    if (key === "Enter" && (ctrlKey || metaKey)) form.requestSubmit();
  });
  byId("prompt-cancel").addEventListener("click", () => dialog.close());
  form.addEventListener("submit", () => {
    const prompt = input.value;
    void triggerRun(name, prompt).then((isAccepted) => {
      // A prompt that was refused, or written meanwhile, stays.
      if (isAccepted && input.value === prompt) input.value = "";
    });
  });
}
