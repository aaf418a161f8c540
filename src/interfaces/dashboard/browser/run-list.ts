import type { HistoryEntry } from "../../../foundation/contracts/history.ts";
import { plainText } from "../../../foundation/contracts/plain-text.ts";
import { counted } from "../../../foundation/contracts/format.ts";
import { post } from "./actions.ts";
import { askFirst } from "./ask-first.ts";
import { createCallsView, hasCalls } from "./calls-view.ts";
import type { CallsView } from "./calls-view.ts";
import { create, createButton, setAttribute, setText } from "./dom.ts";
import { compactCount, costText } from "./format.ts";
import { createChangeMark } from "./run-changes.ts";
import type { ListedRun } from "./run-changes.ts";
import { createRunLink, createRunState, detailsRow, triggerLabel } from "./run-parts.ts";
import { createTime } from "./time-cell.ts";
import { runningSince, whyText } from "./trigger-words.ts";
import { createViews } from "./views.ts";
import type { View, Views } from "./views.ts";

/** Fills a table's body with runs, in the order in which they are given. */
export function createRunList(body: HTMLElement): Views<ListedRun> {
  return createViews(body, ({ id }) => id, createRunRow);
}

/** The latest first, by the time that is shown of a run: its start, or its arrival while it is queued. */
export function byStart(runs: readonly HistoryEntry[]): readonly HistoryEntry[] {
  const shown = ({ startedAt, at }: HistoryEntry): number => Date.parse(startedAt ?? at);
  return [...runs].sort((a, b) => shown(b) - shown(a));
}

/** Columns of the table. */
const runColumns = 7;

function createRunRow(run: ListedRun): View<ListedRun> {
  const started = createTime("past");
  const change = createChangeMark();
  const state = createRunState();
  const reason = create("div", "sub");
  const result = create("div", "sub run-result");
  const tokens = create("td", "number");
  const cost = create("td", "number");
  const link = createRunLink();
  const kill = createButton("link danger");
  let instanceId = "";
  const kills = askFirst(kill, () => post(`/control/kill/${encodeURIComponent(instanceId)}`));
  const element = create("tr");
  const calls = createCallsFold(element, run);
  element.append(
    create("td", "", started.element),
    create("td", "", triggerLabel(run), calls.button, change.element),
    create("td", "", state.outcome, reason, result),
    create("td", "", state.duration),
    tokens,
    cost,
    create("td", "run-actions", link.element, kill),
  );
  return {
    elements: () => [element, ...calls.rows()],
    tick: (now) => {
      started.tick(now);
      state.tick(now);
    },
    show(now) {
      instanceId = now.instanceId ?? "";
      link.show(now);
      change.show(now);
      const label = `Kill the run ${instanceId}`;
      kills.show({ text: "Kill", label, question: "Really kill it?" });
      started.show(now.startedAt ?? now.at, "–");
      state.show(now);
      setText(reason, whyText(now));
      setText(result, resultText(now));
      setText(tokens, now.tokens === null ? "–" : compactCount(now.tokens));
      setText(cost, now.costUsd === null ? "–" : costText(now.costUsd));
      kill.hidden = runningSince(now) === null;
      calls.show(now);
    },
  };
}

const maxResultChars = 200;

/** The beginning of what a run returned, on one line. */
function resultText({ value }: HistoryEntry): string {
  if (value === null || value === undefined) return "";
  const text = typeof value === "string" ? value : JSON.stringify(value);
  return plainText(text.slice(0, maxResultChars)).replace(/\s+/g, " ").trim();
}

interface CallsFold {
  readonly button: HTMLElement;
  /** The unfolded row, if there is one. */
  readonly rows: () => readonly HTMLElement[];
  show(run: HistoryEntry): void;
}

/** What unfolds below a run that called others, was called, or returned something. */
function createCallsFold(row: HTMLElement, run: HistoryEntry): CallsFold {
  const button = createButton("link run-calls");
  setAttribute(button, "aria-expanded", "false");
  let latest = run;
  let view: CallsView | null = null;
  let details: HTMLElement | null = null;
  const open = (): HTMLElement => {
    view = createCallsView(latest);
    return detailsRow(runColumns, view.element);
  };
  button.addEventListener("click", () => {
    const isOpen = details === null;
    setAttribute(button, "aria-expanded", String(isOpen));
    details?.remove();
    details = isOpen ? open() : null;
    if (details === null) view = null;
    else row.after(details);
  });
  return {
    button,
    rows: () => (details === null ? [] : [details]),
    show: (now) => {
      latest = now;
      button.hidden = !hasCalls(now);
      const what =
        now.calls > 0 ? counted(now.calls, "call") : now.value === null ? "call" : "value";
      setText(button, what);
      setAttribute(button, "aria-label", `${what} of the run ${now.instanceId ?? ""}`);
      view?.show(now);
    },
  };
}
