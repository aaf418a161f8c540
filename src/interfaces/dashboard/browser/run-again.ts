import type { AgentStatus } from "../../../../streams/status/wire.ts";
import { outcomeText } from "../../../foundation/contracts/format.ts";
import type { ReplayResult } from "../../../foundation/contracts/operator-api.ts";
import type { RunView } from "../../../foundation/contracts/run-view.ts";
import { isOffered, offer, post } from "./actions.ts";
import { refusalsOf } from "./agent-requests.ts";
import { askedAgain, faultOf } from "./asked-again.ts";
import type { AskedAgain } from "./asked-again.ts";
import { byId, setText } from "./dom.ts";
import { runLink } from "./run-parts.ts";

/** What starts a run again, as it was or with edits. */
export interface RunAgain {
  show(run: RunView): void;
  /** The run's agent as it is now; null when it is gone. */
  offer(agent: AgentStatus | null): void;
}

/** A run that was started, or waits. */
interface Started {
  readonly instanceId?: string | null | undefined;
  readonly outcome: string;
  readonly reason?: string | undefined;
}

/** Connects the button and its dialog. */
export function wireRunAgain(agent: string): RunAgain {
  const button = byId("again");
  const dialog = byId("again-dialog", HTMLDialogElement);
  const input = byId("again-text", HTMLTextAreaElement);
  let run: RunView | null = null;
  let asked: AskedAgain | null = null;
  /** As the field has it: line ends may be others than those of what was asked. */
  let unedited = "";

  const isEdited = (): boolean => input.value !== unedited;
  const showEdit = (): void => {
    if (asked === null) return;
    setText(byId("again-note"), isEdited() ? asked.edited : asked.unchanged);
    setText(byId("again-start"), isEdited() || !asked.isStored ? "Run" : "Replay");
    input.setCustomValidity(isEdited() ? faultOf(asked, input.value) : "");
  };
  const open = async (shown: RunView): Promise<void> => {
    // What was edited and cancelled stays.
    if (asked === null) {
      asked = await askedAgain(shown);
      if (asked === null) return;
      setText(byId("again-label"), asked.label);
      input.value = asked.text;
      unedited = input.value;
    }
    showEdit();
    dialog.showModal();
    input.setSelectionRange(0, 0);
    input.scrollTop = 0;
  };
  const start = async (): Promise<void> => {
    if (run === null || asked === null) return;
    const isReplay = !isEdited() && asked.isStored;
    const text = input.value;
    const started = isReplay ? await replay(run.id) : await runWith(agent, asked.promptOf(text));
    if (started !== null) showStarted(agent, started);
  };

  button.addEventListener("click", () => {
    if (run !== null && isOffered(button)) void open(run);
  });
  input.addEventListener("input", showEdit);
  byId("again-cancel").addEventListener("click", () => dialog.close());
  byId("again-form").addEventListener("submit", () => void start());
  return {
    show: (now) => {
      run = now;
      button.hidden = false;
    },
    offer: (status) => {
      const gone = "There is no such agent any more";
      offer(button, status === null ? gone : refusalsOf(status).run);
    },
  };
}

async function replay(entry: string): Promise<Started | null> {
  const answer = await post<ReplayResult>(`/api/triggers/${encodeURIComponent(entry)}/replay`);
  if (answer === null) return null;
  return answer.matched[0] ?? { outcome: "rejected", reason: answer.reason ?? "no agent matched" };
}

async function runWith(agent: string, prompt: string): Promise<Started | null> {
  const body = prompt.trim() === "" ? undefined : { prompt };
  const path = `/control/trigger/${encodeURIComponent(agent)}`;
  const answer = await post<{ readonly instanceId: string | null }>(path, body);
  if (answer === null) return null;
  const { instanceId } = answer;
  return { instanceId, outcome: instanceId === null ? "queued" : "started" };
}

function showStarted(agent: string, { instanceId, outcome, reason }: Started): void {
  const isOn = outcome === "started" || outcome === "queued";
  const words = isOn ? `Run again: ${outcome}` : `Not run again: ${outcomeText(outcome)}`;
  const why = reason === undefined ? "" : `: ${reason}`;
  const link = typeof instanceId === "string" ? [" as ", runLink(agent, instanceId)] : [];
  byId("again-result").replaceChildren(words, why, ...link);
  byId("again-result").hidden = false;
}
