import type { AgentStatus } from "../../../../streams/status/wire.ts";
import { counted } from "../../../contracts/format.ts";
import { announce, isOffered, offer, onPress, post } from "./actions.ts";
import { offersOf } from "./agent-offers.ts";
import { askFirst } from "./ask-first.ts";
import { byId, setText } from "./dom.ts";

/** The buttons of an agent's page. */
export interface AgentActions {
  show(agent: AgentStatus): void;
  /** Of an agent that is gone there is nothing to do. */
  showGone(): void;
}

/** Makes the page's buttons do what they say. */
export function wireAgentActions(name: string): AgentActions {
  const path = encodeURIComponent(name);
  const [run, runWith, toggle, kill] = ["run", "run-with", "toggle", "kill"].map((id) => byId(id));
  if (!run || !runWith || !toggle || !kill) throw new Error("the page has no buttons");
  let isEnabled = true;
  let running = 0;

  /** Whether it was taken. */
  const trigger = async (prompt: string): Promise<boolean> => {
    const body = prompt.trim() === "" ? undefined : { prompt };
    const answer = await post(`/control/trigger/${path}`, body);
    if (answer !== null)
      announce(`${name} ${answer.queued === true ? "is queued" : "was started"}`);
    return answer !== null;
  };
  const kills = askFirst(kill, async () => {
    const answer = await post(`/control/agents/${path}/kill`);
    if (answer !== null) announce(`Killed ${counted(answer.killed ?? 0, "run")} of ${name}`);
  });
  const showKill = (): void => {
    const runs = counted(running, "run");
    kill.hidden = running === 0;
    kills.show({
      text: "Kill",
      label: `Kill ${runs} of ${name}`,
      question: `Really kill ${runs}?`,
    });
  };

  onPress(run, () => trigger(""));
  onPress(toggle, async () => {
    const answer = await post(`/control/agents/${path}/${isEnabled ? "disable" : "enable"}`);
    if (answer !== null) announce(`${name} ${answer.enabled === true ? "enabled" : "disabled"}`);
  });
  wirePrompt(runWith, trigger);

  return {
    show: (agent) => {
      ({ enabled: isEnabled, running } = agent);
      const { noRun, noToggle } = offersOf(agent);
      for (const button of [run, runWith]) offer(button, noRun);
      offer(toggle, noToggle);
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

function wirePrompt(button: HTMLElement, trigger: (prompt: string) => Promise<boolean>): void {
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
    void trigger(prompt).then((isTaken) => {
      // What was refused, or written meanwhile, is still there.
      if (isTaken && input.value === prompt) input.value = "";
    });
  });
}
