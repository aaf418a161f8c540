import type { CallTree, HistoryEntry } from "../../../foundation/contracts/history.ts";
import { counted } from "../../../foundation/contracts/format.ts";
import { fetchJson } from "./api.ts";
import { callNodes, callTree } from "./call-tree.ts";
import { create, setAttributes, setText } from "./dom.ts";

/** The context and the value of an entry, and the calls around it. */
export interface CallsView {
  readonly element: HTMLElement;
  /** The entry as it is now; what can have changed is read again. */
  show(entry: HistoryEntry): void;
}

/** Whether there is anything to show of the calls around an entry. */
export function hasCalls({ kind, calls, value }: HistoryEntry): boolean {
  return kind === "agent-call" || calls > 0 || value !== null;
}

/** Makes the view of an entry; it is filled once it is read. */
export function createCallsView(entry: HistoryEntry): CallsView {
  const note = create("p", "muted", "Reading it …");
  const context = createFold("Context");
  const value = createFold("Returned");
  const tree = create("div", "tree-box");
  const element = create("div", "calls", note, context.element, value.element, tree);
  let shown = "";
  let isSettled = false;

  const fill = (answer: CallTree): void => {
    isSettled = answer.entries.every(({ outcome }) => outcome !== null);
    // What did not change is left alone: focus and selection stay.
    if (JSON.stringify(answer) === shown) return;
    shown = JSON.stringify(answer);
    note.hidden = true;
    context.show(answer.context === null ? null : prettyText(parsed(answer.context)));
    value.show(answer.value === null ? null : prettyText(answer.value));
    const made = answer.entries.length - 1;
    tree.hidden = made === 0;
    const title = create("h3", "", `Calls (${counted(made, "call")})`);
    if (made > 0) tree.replaceChildren(title, callTree(callNodes(answer.entries), entry.id));
  };
  const read = (): void => {
    const path = `/api/stats/triggers/${encodeURIComponent(entry.id)}/calls`;
    void fetchJson<CallTree>(path).then((fetched) => {
      if (fetched.ok) return fill(fetched.value);
      // What was read before is better than nothing.
      if (shown === "") setText(note, fetched.detail);
    });
  };
  let last = JSON.stringify(entry);
  read();
  return {
    element,
    show: (now) => {
      if (JSON.stringify(now) === last && isSettled) return;
      last = JSON.stringify(now);
      read();
    },
  };
}

interface Fold {
  readonly element: HTMLElement;
  /** Null for nothing. */
  show(text: string | null): void;
}

/** A short text is worth no fold. */
const unfoldedChars = 300;

function createFold(label: string): Fold {
  const block = create("div");
  const element = create("details", "fold", create("summary", "", label), block);
  element.hidden = true;
  return {
    element,
    show: (text) => {
      if (text !== null && element.hidden) element.open = text.length <= unfoldedChars;
      element.hidden = text === null;
      if (text !== null) block.replaceChildren(preformatted(text, label));
    },
  };
}

/** JSON as its value, another text as it is. */
export function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** A value as text that is easy to read. */
export function prettyText(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value, null, 2);
}

/** A text longer than this is cut where it is shown, characters. */
const maxShown = 200_000;

/** A text as it is, in a box that scrolls; `label` is its name for a screen reader. */
export function preformatted(text: string, label: string): HTMLElement {
  const isLong = text.length > maxShown;
  const shown = isLong ? `${text.slice(0, maxShown)}\n… and more` : text;
  const block = create("pre", "payload", shown);
  setAttributes(block, { tabindex: 0, role: "group", "aria-label": label });
  return block;
}
