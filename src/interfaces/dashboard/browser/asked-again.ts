import type { ReceiptView } from "../../../foundation/contracts/operator-api.ts";
import type { RunView } from "../../../foundation/contracts/run-view.ts";
import { showToast } from "./actions.ts";
import { fetchJson } from "./api.ts";
import { prettyText } from "./calls-view.ts";
import { triggerWords } from "./trigger-words.ts";

const fences = /`{3,}/g;

/** The prompt of a manual run with an edited payload, which can't end the block that it is in. */
export function promptOfPayload(trigger: string, edited: string): string {
  const inside = [...edited.matchAll(fences)].map(([mark]) => mark.length);
  const fence = "`".repeat(inside.reduce((longest, one) => Math.max(longest, one + 1), 3));
  const head = `Handle this payload of a delivery (${trigger}), which a person edited:`;
  return `${head}\n\n${fence}\n${edited}\n${fence}`;
}

/** What a person may edit before a run is run again. */
export interface AskedAgain {
  readonly label: string;
  /** As the run was asked. */
  readonly text: string;
  readonly isJson: boolean;
  /** Whether the same work can run again; without it there is nothing that an edit would change. */
  readonly isStored: boolean;
  /** What happens without an edit, and with one. */
  readonly unchanged: string;
  readonly edited: string;
  /** The prompt of the manual run that an edited text starts. */
  readonly promptOf: (text: string) => string;
}

const asIs = (text: string): string => text;
const replayed = "Unchanged: the same work runs again, as a replay.";

/** What a run was asked, to be edited; a webhook's payload is read whole. Null after showing why that can't be read. */
export async function askedAgain(run: RunView): Promise<AskedAgain | null> {
  const { kind, prompt, calls, receiptId } = run;
  if (receiptId !== null) return await deliveryAgain(run, receiptId);
  const shared = { isJson: false, isStored: true, unchanged: replayed, promptOf: asIs };
  switch (kind) {
    case "agent-call":
      return {
        ...shared,
        label: "Context of the call",
        text: calls.received?.context ?? "",
        edited:
          "Edited: a manual run starts with this as its prompt. No caller gets what it returns.",
      };
    case "manual":
      return {
        ...shared,
        label: "Prompt",
        text: prompt ?? "",
        edited: "Edited: a manual run starts with this prompt.",
      };
    default:
      return {
        ...shared,
        label: "Prompt, beside its instructions",
        text: "",
        edited: "With a prompt: a manual run starts, not one of the schedule.",
      };
  }
}

async function deliveryAgain(run: RunView, receiptId: string): Promise<AskedAgain | null> {
  const path = `/api/stats/webhooks/${encodeURIComponent(receiptId)}`;
  const fetched = await fetchJson<ReceiptView>(path);
  if (!fetched.ok) {
    if (fetched.status === 404) return notStored;
    showToast(fetched.detail);
    return null;
  }
  const { payload, text } = fetched.value;
  return {
    label: "Payload",
    text: text ?? prettyText(payload),
    isJson: text === null,
    isStored: true,
    unchanged: `Unchanged: the stored delivery is replayed to ${run.agent}, whatever its filters are.`,
    edited:
      "Edited: a manual run starts with this payload in its prompt. It is no delivery: there is no payload file, " +
      "and [redacted] stays as it is.",
    promptOf: (edited) => promptOfPayload(triggerWords(run), edited),
  };
}

const notStored: AskedAgain = {
  label: "Prompt, beside its instructions",
  text: "",
  isJson: false,
  isStored: false,
  unchanged: "Its delivery is no longer stored: a manual run starts without it.",
  edited: "Its delivery is no longer stored: a manual run starts with this prompt.",
  promptOf: asIs,
};

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
