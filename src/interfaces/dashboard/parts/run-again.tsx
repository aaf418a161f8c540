import { useEffect, useRef, useState } from "preact/hooks";
import type { AgentStatus } from "../../../../streams/status/wire.ts";
import { outcomeText } from "../../../foundation/contracts/format.ts";
import type { ReceiptView, ReplayResult } from "../../../foundation/contracts/operator-api.ts";
import type { RunView } from "../../views/run-view.ts";
import { refusalsOf } from "../live/agent-requests.ts";
import { fetchJson, post } from "../live/api.ts";
import { showToast } from "../live/toasts.ts";
import { askedAgain, faultOf, type AskedAgain } from "../text/asked-again.ts";
import { Action } from "./action.tsx";
import { Dialog } from "./dialog.tsx";
import { RunLink } from "./run-parts.tsx";

/** A run that was started, or waits. */
interface Started {
  readonly instanceId?: string | null | undefined;
  readonly outcome: string;
  readonly reason?: string | undefined;
}

/** The button that runs a run's work again, unchanged or edited; its dialog, and a notice of the result. */
export function useRunAgain(run: RunView, agent: AgentStatus | null) {
  const [isOpen, setOpen] = useState(false);
  /** Cancelled edits stay. */
  const [edit, setEdit] = useState<Edit | null>(null);
  const [started, setStarted] = useState<Started | null>(null);
  const open = async (): Promise<void> => {
    const asked = edit?.asked ?? (await requestOf(run));
    if (asked === null) return;
    setEdit(edit ?? { asked, text: asked.text });
    setOpen(true);
  };
  const start = async ({ asked, text }: Edit): Promise<void> => {
    const isReplay = asked.isStored && text === asked.text;
    const next = isReplay ? await replay(run.id) : await runWith(run.agent, asked.promptOf(text));
    if (next !== null) setStarted(next);
  };
  return {
    button: (
      <Action act={open} id="again" class="button acts primary" whyNot={refusalsOf(agent).run}>
        Run again …
      </Action>
    ),
    notice: (
      <p class="notice" id="again-result" role="status" hidden={started === null}>
        {started !== null && <StartedText agent={run.agent} started={started} />}
      </p>
    ),
    dialog: (
      <EditDialog
        agent={run.agent}
        edit={edit}
        isOpen={isOpen}
        onEdit={setEdit}
        onClose={() => setOpen(false)}
        onConfirm={(confirmed) => void start(confirmed)}
      />
    ),
  };
}

/** The request of a run; a webhook's payload is read completely. Null after showing why that can't be read. */
async function requestOf(run: RunView): Promise<AskedAgain | null> {
  if (run.receiptId === null) return askedAgain(run, null);
  const path = `/api/stats/webhooks/${encodeURIComponent(run.receiptId)}`;
  const fetched = await fetchJson<ReceiptView>(path);
  if (fetched.ok) return askedAgain(run, fetched.value);
  if (fetched.status === 404) return askedAgain(run, null);
  showToast(fetched.detail);
  return null;
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

function StartedText({ agent, started }: { readonly agent: string; readonly started: Started }) {
  const { instanceId, outcome, reason } = started;
  const isOn = outcome === "started" || outcome === "queued";
  return (
    <>
      {isOn ? `Run again: ${outcome}` : `Not run again: ${outcomeText(outcome)}`}
      {reason !== undefined && `: ${reason}`}
      {typeof instanceId === "string" && (
        <>
          {" as "}
          <RunLink agent={agent} instanceId={instanceId} />
        </>
      )}
    </>
  );
}

/** A request, and its text as the reader has edited it. */
interface Edit {
  readonly asked: AskedAgain;
  readonly text: string;
}

interface EditDialogProps {
  readonly agent: string;
  readonly edit: Edit | null;
  readonly isOpen: boolean;
  readonly onEdit: (edit: Edit) => void;
  readonly onClose: () => void;
  readonly onConfirm: (edit: Edit) => void;
}

function EditDialog({ agent, edit, isOpen, onEdit, onClose, onConfirm }: EditDialogProps) {
  const field = useRef<HTMLTextAreaElement>(null);
  const { asked, text = "" } = edit ?? {};
  const isEdited = asked !== undefined && text !== asked.text;
  const fault = isEdited ? faultOf(asked, text) : "";
  useEffect(() => field.current?.setCustomValidity(fault), [fault]);
  useEffect(() => {
    if (!isOpen) return;
    field.current?.setSelectionRange(0, 0);
    field.current?.scrollTo(0, 0);
  }, [isOpen]);
  return (
    <Dialog
      id="again-dialog"
      title={`Run ${agent} again`}
      isOpen={isOpen}
      onClose={onClose}
      confirm={isEdited || asked?.isStored !== true ? "Run" : "Replay"}
      onConfirm={() => edit !== null && onConfirm(edit)}
    >
      <label for="again-text">{asked?.label ?? "Prompt"}</label>
      <textarea
        id="again-text"
        rows={12}
        spellcheck={false}
        aria-describedby="again-note"
        value={text}
        ref={field}
        onInput={({ currentTarget }) => {
          if (asked !== undefined) onEdit({ asked, text: currentTarget.value });
        }}
      />
      <p class="muted" id="again-note" role="status">
        {isEdited ? asked.edited : asked?.unchanged}
      </p>
    </Dialog>
  );
}
