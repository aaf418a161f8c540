import { outcomeText } from "../../../../streams/outcomes.ts";
import { useEffect, useRef, useState } from "preact/hooks";
import type { AgentStatus } from "../../../../streams/status/wire.ts";
import type { ReceiptView, ReplayResult } from "../../../foundation/contracts/operator-api.ts";
import type { RunView } from "../../views/run-view.ts";
import { refusalsOf } from "../live/agent-requests.ts";
import { fetchJson, post } from "../live/api.ts";
import { showToast } from "../live/toasts.ts";
import { Action } from "./action.tsx";
import { Dialog } from "./dialog.tsx";
import { RunLink } from "./run-parts.tsx";
import { prettyText } from "../text/calls.ts";
import { triggerWords } from "../text/trigger-words.ts";

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

const fences = /`{3,}/g;

/** The prompt of a manual run with an edited payload, which can't end its block. */
export function promptOfPayload(trigger: string, edited: string): string {
  const inside = [...edited.matchAll(fences)].map(([mark]) => mark.length);
  const fence = "`".repeat(inside.reduce((longest, one) => Math.max(longest, one + 1), 3));
  const head = `Handle this payload of a delivery (${trigger}), which a person edited:`;
  return `${head}\n\n${fence}\n${edited}\n${fence}`;
}

/** The request of a run, which a person may edit before it is run again. */
interface AskedAgain {
  readonly label: string;
  /** The original text of the request. */
  readonly text: string;
  readonly isJson: boolean;
  /** Whether the same work can run again. */
  readonly isStored: boolean;
  /** The effect without an edit, and with one. */
  readonly unchanged: string;
  readonly edited: string;
  /** The prompt of the manual run started by an edited text. */
  readonly promptOf: (text: string) => string;
}

const ofSchedule: AskedAgain = {
  label: "Prompt, beside its instructions",
  text: "",
  isJson: false,
  isStored: true,
  unchanged: "Unchanged: the same work runs again, as a replay.",
  edited: "Edited: a manual run starts with this prompt.",
  promptOf: (text) => text,
};
const notStored: AskedAgain = {
  ...ofSchedule,
  isStored: false,
  unchanged: "Its delivery is no longer stored: a manual run starts without it.",
};

/** The request of a run, to be edited. `receipt` is its delivery with the whole payload; null if it is no longer stored. */
function askedAgain(run: RunView, receipt: ReceiptView | null): AskedAgain {
  const asked = run.receiptId === null ? requestAgain(run) : deliveryAgain(run, receipt);
  // A text field has only these line ends.
  return { ...asked, text: asked.text.replaceAll(/\r\n?/g, "\n") };
}

function requestAgain({ kind, prompt, calls }: RunView): AskedAgain {
  if (kind === "manual") return { ...ofSchedule, label: "Prompt", text: prompt ?? "" };
  if (kind !== "agent-call") return ofSchedule;
  return {
    ...ofSchedule,
    label: "Context of the call",
    text: calls.received?.context ?? "",
    edited: `${ofSchedule.edited} No caller gets its result.`,
  };
}

function deliveryAgain(run: RunView, receipt: ReceiptView | null): AskedAgain {
  if (receipt === null) return notStored;
  const { payload, text } = receipt;
  return {
    label: "Payload",
    text: text ?? prettyText(payload),
    isJson: text === null,
    isStored: true,
    unchanged: `Unchanged: the stored delivery is replayed to ${run.agent}, regardless of its filters.`,
    edited:
      "Edited: a manual run starts with this payload in its prompt, without a payload file. [redacted] stays as it is.",
    promptOf: (edited) => promptOfPayload(triggerWords(run), edited),
  };
}

/** Why an edited text can't be used; empty when it can. */
function faultOf({ isJson }: AskedAgain, edited: string): string {
  if (!isJson) return "";
  try {
    JSON.parse(edited);
    return "";
  } catch (error) {
    return `This is not JSON: ${error instanceof Error ? error.message : String(error)}`;
  }
}
