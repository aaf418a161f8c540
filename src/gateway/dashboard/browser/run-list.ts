import type { HistoryEntry } from "../../../contracts/history.ts";
import { counted, durationText, outcomeText } from "../../../contracts/format.ts";
import { post } from "./actions.ts";
import { askFirst } from "./ask-first.ts";
import { create, placeBelow, setAttribute, setText } from "./dom.ts";
import { compactCount, costText } from "./format.ts";
import { createCallsView, hasCalls } from "./calls-view.ts";
import type { CallsView } from "./calls-view.ts";
import { createLogLink } from "./run-link.ts";
import { createTime } from "./time-cell.ts";
import { triggerLabel } from "./trigger-label.ts";
import { stateOf, whyText } from "./trigger-words.ts";

/** A table of runs that is written anew in place: a row stays as long as its run is in the list. */
export interface RunList {
  /** In the order in which they are to stand. */
  show(runs: readonly HistoryEntry[]): void;
  tick(now: number): void;
}

interface RunRow {
  readonly element: HTMLElement;
  /** Its rows of the table: its own, and the unfolded one. */
  readonly rows: () => readonly HTMLElement[];
  show(run: HistoryEntry): void;
  tick(now: number): void;
  remove(): void;
}

/** Fills a table's body with runs. */
export function createRunList(body: HTMLElement): RunList {
  const rows = new Map<string, RunRow>();
  return {
    show: (runs) => {
      const ids = new Set(runs.map(({ id }) => id));
      for (const [id, row] of rows) {
        if (ids.has(id)) continue;
        row.remove();
        rows.delete(id);
      }
      let above: HTMLElement | null = null;
      for (const run of runs) {
        const row = rows.get(run.id) ?? createRunRow(run);
        rows.set(run.id, row);
        row.show(run);
        placeBelow(above, row.rows(), body);
        above = row.rows().at(-1) ?? above;
      }
    },
    tick: (now) => {
      for (const row of rows.values()) row.tick(now);
    },
  };
}

/** The latest first, by the time that is shown of a run: its start, or its arrival while it is queued. */
export function byStart(runs: readonly HistoryEntry[]): readonly HistoryEntry[] {
  const shown = ({ startedAt, at }: HistoryEntry): number => Date.parse(startedAt ?? at);
  return [...runs].sort((a, b) => shown(b) - shown(a));
}

/** Columns of the table. */
const runColumns = 7;

function createRunRow(run: HistoryEntry): RunRow {
  const started = createTime("past");
  const outcome = create("span");
  const reason = create("div", "sub");
  const duration = create("span");
  const tokens = create("td", "number");
  const cost = create("td", "number");
  const log = createLogLink();
  const kill = create("button", "link danger");
  kill.setAttribute("type", "button");
  let instanceId = "";
  const kills = askFirst(kill, () => post(`/control/kill/${encodeURIComponent(instanceId)}`));
  const actions = cellOf(log.element, kill);
  actions.className = "run-actions";

  const element = create("tr");
  const calls = createCallsFold(element, run);
  element.append(
    cellOf(started.element),
    cellOf(triggerLabel(run), calls.button),
    cellOf(outcome, reason),
    cellOf(duration),
    tokens,
    cost,
    actions,
  );
  let startedAt: number | null = null;
  const tick = (now: number): void => {
    started.tick(now);
    if (startedAt !== null) setText(duration, durationText(Math.max(0, now - startedAt)));
  };
  return {
    element,
    rows: () => [element, ...calls.rows()],
    tick,
    show(now) {
      const word = stateOf(now);
      instanceId = now.instanceId ?? "";
      log.show(now);
      const label = `Kill the run ${instanceId}`;
      kills.show({ text: "Kill", label, question: "Really kill it?" });
      const isRunning = word === "running";
      startedAt = isRunning ? Date.parse(now.startedAt ?? "") : null;
      started.show(now.startedAt ?? now.at, "–");
      setText(outcome, outcomeText(word));
      setAttribute(outcome, "class", `outcome ${word}`);
      setText(reason, whyText(now));
      setText(duration, now.durationMs === null ? "–" : durationText(now.durationMs));
      tick(Date.now());
      setText(tokens, now.tokens === null ? "–" : compactCount(now.tokens));
      setText(cost, now.costUsd === null ? "–" : costText(now.costUsd));
      kill.hidden = !isRunning;
      calls.show(now);
    },
    remove: () => {
      element.remove();
      calls.remove();
    },
  };
}

interface CallsFold {
  readonly button: HTMLElement;
  /** The unfolded row, if there is one. */
  readonly rows: () => readonly HTMLElement[];
  show(run: HistoryEntry): void;
  remove(): void;
}

/** What unfolds below a run that called others, was called, or returned something. */
function createCallsFold(row: HTMLElement, run: HistoryEntry): CallsFold {
  const button = create("button", "link run-calls");
  button.setAttribute("type", "button");
  setAttribute(button, "aria-expanded", "false");
  let latest = run;
  let view: CallsView | null = null;
  let details: HTMLElement | null = null;
  const open = (): HTMLElement => {
    view = createCallsView(latest);
    const cell = cellOf(view.element);
    cell.colSpan = runColumns;
    const element = create("tr", "details-row");
    element.append(cell);
    return element;
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
    remove: () => details?.remove(),
  };
}

/** A table's cell with something in it. */
export function cellOf(...content: readonly (HTMLElement | string)[]): HTMLTableCellElement {
  const cell = create("td");
  cell.append(...content);
  return cell;
}
