import type { AgentStatus } from "../../../../streams/status/wire.ts";
import { counted } from "../../../contracts/format.ts";
import { announce, isOffered, offer, onPress, post } from "./actions.ts";
import { refusalsOf, setEnabled, triggerRun } from "./agent-requests.ts";
import { askFirst } from "./ask-first.ts";
import { byId, setText } from "./dom.ts";

/** The buttons of an agent's page. */
export interface AgentActions {
  show(agent: AgentStatus): void;
  /** Of an agent that is gone, nothing can be done. */
  showGone(): void;
}

/** Connects the page's buttons. */
export function wireAgentActions(name: string): AgentActions {
  const [run, runWith, toggle, kill] = ["run", "run-with", "toggle", "kill"].map((id) => byId(id));
  if (!run || !runWith || !toggle || !kill) throw new Error("the page has no buttons");
  let isEnabled = true;
  let running = 0;

  const kills = askFirst(kill, async () => {
    const answer = await post(`/control/agents/${encodeURIComponent(name)}/kill`);
    if (answer !== null) announce(`Killed ${counted(answer.killed ?? 0, "run")} of ${name}`);
  });
  const showKill = (): void => {
    const runs = counted(running, "run");
    kill.hidden = running === 0;
    const label = `Kill ${runs} of ${name}`;
    kills.show({ text: "Kill", label, question: `Really kill ${runs}?` });
  };
  onPress(run, () => triggerRun(name));
  onPress(toggle, () => setEnabled(name, !isEnabled));
  wirePrompt(runWith, name);

  return {
    show: (agent) => {
      ({ enabled: isEnabled, running } = agent);
      const refusals = refusalsOf(agent);
      for (const button of [run, runWith]) offer(button, refusals.run);
      offer(toggle, refusals.toggle);
      setText(toggle, isEnabled ? "Disable" : "Enable");
      showKill();
    },
    showGone: () => {
      for (const button of [run, runWith, toggle]) offer(button, "There is no such agent any more");
      running = 0;
      showKill();
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
