import { useRef } from "preact/hooks";
import { Action } from "../../kit/action.tsx";
import { Dialog, useDialog } from "../../kit/dialog.tsx";
import { refusalsOf, setEnabled, triggerRun } from "../../live/agent-requests.ts";
import { post } from "../../live/api.ts";
import { showToast } from "../../live/toasts.ts";
import { agentAddress, pathOf } from "../../text/addresses.ts";
import type { NamedAgentProps } from "../../runs/agent-head.tsx";

/** The button that disables an agent, or enables it again. */
export function Toggle({ name, agent }: NamedAgentProps) {
  const isEnabled = agent?.enabled ?? true;
  return (
    <Action id="toggle" whyNot={refusalsOf(agent).toggle} act={() => setEnabled(name, !isEnabled)}>
      {isEnabled ? "Disable" : "Enable"}
    </Action>
  );
}

/** The button that copies an agent, and its dialog. */
export function Clone({ name }: NamedAgentProps) {
  const dialog = useDialog();
  const field = useRef<HTMLInputElement>(null);
  const clone = async (): Promise<void> => {
    const to = field.current?.value ?? "";
    const answer = await post(pathOf`/api/agents/${name}/clone`, { to });
    if (answer !== null)
      showToast(`${to} is a disabled copy`, { words: "Show", href: agentAddress(to) });
  };
  return (
    <>
      <Action id="clone" act={dialog.open}>
        Clone …
      </Action>
      <Dialog
        id="clone-dialog"
        title={`Clone ${name}`}
        {...dialog}
        confirm="Clone"
        onConfirm={() => void clone()}
      >
        <label for="clone-name">Name of the copy, which is disabled at first</label>
        <input id="clone-name" required ref={field} />
      </Dialog>
    </>
  );
}

/** The button that starts a run with more instructions, and its dialog. */
export function RunWithPrompt({ name, agent }: NamedAgentProps) {
  const dialog = useDialog();
  const field = useRef<HTMLTextAreaElement>(null);
  const run = async (): Promise<void> => {
    const input = field.current;
    const prompt = input?.value ?? "";
    const isAccepted = await triggerRun(name, prompt);
    // A prompt that was rejected, or written meanwhile, stays.
    if (isAccepted && input?.value === prompt) input.value = "";
  };
  const submitByKey = (event: KeyboardEvent): void => {
    const isWithModifier = event.ctrlKey || event.metaKey;
    if (event.key === "Enter" && isWithModifier) field.current?.form?.requestSubmit();
  };
  return (
    <>
      <Action id="run-with" whyNot={refusalsOf(agent).run} act={dialog.open}>
        Run with a prompt …
      </Action>
      <Dialog
        id="prompt-dialog"
        title={`Run ${name}`}
        {...dialog}
        confirm="Run"
        onConfirm={() => void run()}
      >
        <label for="prompt">Extra instructions for this run</label>
        <textarea id="prompt" rows={6} maxLength={100_000} ref={field} onKeyDown={submitByKey} />
      </Dialog>
    </>
  );
}
