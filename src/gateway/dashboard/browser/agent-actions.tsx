import { render } from "preact";
import type { AgentStatus } from "../../../../streams/status/wire.ts";
import { counted } from "../../../contracts/format.ts";
import { announce, post } from "./actions.ts";
import { refusalsOf, ToggleButton, triggerRun } from "./agent-buttons.tsx";
import { Button, ConfirmButton } from "./buttons.tsx";
import { byId } from "./dom.ts";

/** Shows the buttons of an agent's page. Of an agent that is gone, nothing can be done. */
export function showAgentActions(agent: AgentStatus, isGone: boolean): void {
  const gone = isGone ? "There is no such agent any more" : null;
  const refusals = refusalsOf(agent);
  const noRun = gone ?? refusals.run;
  const { name, running } = agent;
  const buttons = (
    <>
      {running > 0 && !isGone && <KillButton name={name} running={running} />}
      <ToggleButton id="toggle" agent={agent} whyNot={gone ?? refusals.toggle} />
      <Button id="run-with" class="button acts" whyNot={noRun} onPress={showPrompt}>
        Run with a prompt …
      </Button>
      <Button id="run" class="button acts primary" whyNot={noRun} onPress={() => triggerRun(name)}>
        Run
      </Button>
    </>
  );
  render(buttons, byId("actions"));
}

function KillButton({ name, running }: Pick<AgentStatus, "name" | "running">) {
  const runs = counted(running, "run");
  const kill = async (): Promise<void> => {
    const answer = await post(`/control/agents/${encodeURIComponent(name)}/kill`);
    if (answer !== null) announce(`Killed ${counted(answer.killed ?? 0, "run")} of ${name}`);
  };
  return (
    <ConfirmButton
      id="kill"
      class="button acts danger"
      label={`Kill ${runs} of ${name}`}
      question={`Really kill ${runs}?`}
      onPress={kill}
    >
      Kill
    </ConfirmButton>
  );
}

function showPrompt(): void {
  byId("prompt-dialog", HTMLDialogElement).showModal();
}

/** Makes the dialog for a prompt run the agent with it. */
export function wirePrompt(name: string): void {
  const form = byId("prompt-form", HTMLFormElement);
  const input = byId("prompt", HTMLTextAreaElement);
  input.addEventListener("keydown", ({ key, ctrlKey, metaKey }) => {
    if (key === "Enter" && (ctrlKey || metaKey)) form.requestSubmit();
  });
  byId("prompt-cancel").addEventListener("click", () =>
    byId("prompt-dialog", HTMLDialogElement).close(),
  );
  form.addEventListener("submit", () => {
    const prompt = input.value;
    void triggerRun(name, prompt).then((isAccepted) => {
      // A prompt that was refused, or written meanwhile, stays.
      if (isAccepted && input.value === prompt) input.value = "";
    });
  });
}
