import type { ReceiptView } from "../../../foundation/contracts/operator-api.ts";
import type { RunView } from "../../views/run-view.ts";
import { prettyText } from "./calls.ts";
import { triggerWords } from "./trigger-words.ts";

const fences = /`{3,}/g;

/** The prompt of a manual run with an edited payload, which can't end its block. */
export function promptOfPayload(trigger: string, edited: string): string {
  const inside = [...edited.matchAll(fences)].map(([mark]) => mark.length);
  const fence = "`".repeat(inside.reduce((longest, one) => Math.max(longest, one + 1), 3));
  const head = `Handle this payload of a delivery (${trigger}), which a person edited:`;
  return `${head}\n\n${fence}\n${edited}\n${fence}`;
}

/** The request of a run, which a person may edit before it is run again. */
export interface AskedAgain {
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
export function askedAgain(run: RunView, receipt: ReceiptView | null): AskedAgain {
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
export function faultOf({ isJson }: AskedAgain, edited: string): string {
  if (!isJson) return "";
  try {
    JSON.parse(edited);
    return "";
  } catch (error) {
    return `This is not JSON: ${error instanceof Error ? error.message : String(error)}`;
  }
}
