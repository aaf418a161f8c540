import { outcomeText } from "../../../../../streams/outcomes.ts";
import { useEffect, useRef, useState } from "preact/hooks";
import type { AgentStatus } from "../../../../../streams/status/wire.ts";
import type { ReceiptView, ReplayResult } from "../../../../foundation/contracts/operator-api.ts";
import type { RunView } from "../../../../runtime/runs/run-view.ts";
import { postRun, refusalsOf } from "../../live/agent-requests.ts";
import { fetchJson, post } from "../../live/api.ts";
import { showToast } from "../../live/toasts.ts";
import { Action } from "../../kit/action.tsx";
import { Dialog, useDialog } from "../../kit/dialog.tsx";
import { RunLink } from "../../runs/run-parts.tsx";
import { prettyText } from "../../runs/call-tree.ts";
import { triggerWords } from "../../runs/trigger-words.ts";
import { pathOf } from "../../text/addresses.ts";

/** A run that was started, or waits. */
interface Started {
  readonly instanceId?: string | null | undefined;
  readonly outcome: string;
  readonly reason?: string | undefined;
}

/** The button that runs a run's work again, unchanged or edited; its dialog, and a notice of the result. */
export function useRunAgain(run: RunView, agent: AgentStatus | null) {
  const dialog = useDialog();
  const [asked, setAsked] = useState<AskedAgain | null>(null);
  /** The text as the reader has edited it: cancelled edits stay. */
  const [text, setText] = useState("");
  const [started, setStarted] = useState<Started | null>(null);
  const field = useRef<HTMLTextAreaElement>(null);
  const isEdited = asked !== null && text !== asked.text;
  const fault = isEdited && asked.isJson ? faultOf(text) : "";
  useEffect(() => field.current?.setCustomValidity(fault), [fault]);
  useEffect(() => {
    if (!dialog.isOpen) return;
    field.current?.setSelectionRange(0, 0);
    field.current?.scrollTo(0, 0);
  }, [dialog.isOpen]);
  const open = async (): Promise<void> => {
    const request = asked ?? (await requestOf(run));
    if (request === null) return;
    if (asked === null) setText(request.text);
    setAsked(request);
    dialog.open();
  };
  const isReplay = !isEdited && asked?.isStored === true;
  const start = async (): Promise<void> => {
    const prompt = asked?.isPayload === true ? promptOfPayload(triggerWords(run), text) : text;
    const next = await (isReplay ? replay(run.id) : runWith(run.agent, prompt));
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
        {started !== null && <StartedText agent={run.agent} {...started} />}
      </p>
    ),
    dialog: (
      <Dialog
        id="again-dialog"
        title={`Run ${run.agent} again`}
        confirm={isReplay ? "Replay" : "Run"}
        onConfirm={() => void start()}
        {...dialog}
      >
        <label for="again-text">{asked?.label ?? "Prompt"}</label>
        <textarea
          id="again-text"
          rows={12}
          spellcheck={false}
          aria-describedby="again-note"
          value={text}
          ref={field}
          onInput={({ currentTarget }) => setText(currentTarget.value)}
        />
        <p class="muted" id="again-note" role="status">
          {isEdited ? asked.edited : asked?.unchanged}
        </p>
      </Dialog>
    ),
  };
}

/** The request of a run; a webhook's payload is read completely. Null after showing why that can't be read. */
async function requestOf(run: RunView): Promise<AskedAgain | null> {
  if (run.receiptId === null) return askedAgain(run, null);
  const path = pathOf`/api/stats/webhooks/${run.receiptId}`;
  const fetched = await fetchJson<ReceiptView>(path);
  if (fetched.ok) return askedAgain(run, fetched.value);
  if (fetched.status === 404) return askedAgain(run, null);
  showToast(fetched.detail);
  return null;
}

async function replay(entry: string): Promise<Started | null> {
  const answer = await post<ReplayResult>(pathOf`/api/triggers/${entry}/replay`);
  if (answer === null) return null;
  return answer.matched[0] ?? { outcome: "rejected", reason: answer.reason ?? "no agent matched" };
}

async function runWith(agent: string, prompt: string): Promise<Started | null> {
  const answer = await postRun(agent, prompt);
  if (answer === null) return null;
  const { instanceId = null } = answer;
  return { instanceId, outcome: instanceId === null ? "queued" : "started" };
}

function StartedText({
  agent,
  instanceId = null,
  outcome,
  reason,
}: Started & { readonly agent: string }) {
  const isOn = outcome === "started" || outcome === "queued";
  return (
    <>
      {isOn ? `Run again: ${outcome}` : `Not run again: ${outcomeText(outcome)}`}
      {reason !== undefined && `: ${reason}`}
      {instanceId !== null && " as "}
      <RunLink agent={agent} instanceId={instanceId} />
    </>
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
  /** Whether it is a delivery's payload, and a JSON document. */
  readonly isPayload?: boolean;
  readonly isJson?: boolean;
  /** Whether the same work can run again. */
  readonly isStored: boolean;
  /** The effect without an edit, and with one. */
  readonly unchanged: string;
  readonly edited: string;
}

const ofSchedule: AskedAgain = {
  label: "Prompt, in addition to the instructions",
  text: "",
  isStored: true,
  unchanged: "Unchanged: the same work is replayed.",
  edited: "Edited: a manual run starts with this prompt.",
};

/** The request of a run, to be edited. `receipt` is its delivery with the whole payload; null if it is no longer stored. */
function askedAgain(run: RunView, receipt: ReceiptView | null): AskedAgain {
  const asked = run.receiptId === null ? requestAgain(run) : deliveryAgain(run.agent, receipt);
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

function deliveryAgain(agent: string, receipt: ReceiptView | null): AskedAgain {
  if (receipt === null) {
    const unchanged = "Its delivery is no longer stored: a manual run starts without the delivery.";
    return { ...ofSchedule, isStored: false, unchanged };
  }
  const { payload, text } = receipt;
  return {
    label: "Payload",
    text: text ?? prettyText(payload),
    isPayload: true,
    isJson: text === null,
    isStored: true,
    unchanged: `Unchanged: the stored delivery is replayed to ${agent}, regardless of its filters.`,
    edited:
      "Edited: a manual run starts with this payload in its prompt, without a payload file. [redacted] stays as it is.",
  };
}

/** Why an edited text is not JSON; empty if it is. */
function faultOf(edited: string): string {
  try {
    JSON.parse(edited);
    return "";
  } catch (error) {
    return `This is not JSON: ${error instanceof Error ? error.message : String(error)}`;
  }
}
