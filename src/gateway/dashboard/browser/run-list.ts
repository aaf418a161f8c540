import type { HistoryEntry } from "../../../contracts/history.ts";
import { onPress, post } from "./actions.ts";
import { create, setAttribute, setText } from "./dom.ts";
import type { PageElement } from "./dom.ts";
import { compactCount, costText, counted, durationText, outcomeText } from "./format.ts";
import { createCallsView, hasCalls } from "./calls-view.ts";
import type { CallsView } from "./calls-view.ts";
import { runLink } from "./run-link.ts";
import { createTime } from "./time-cell.ts";
import { triggerLabel } from "./trigger-label.ts";
import { whyText } from "./trigger-words.ts";

/** A table of runs that is written anew in place: a row stays as long as its run is in the list. */
export interface RunList {
  /** Newest first. */
  show(runs: readonly HistoryEntry[]): void;
  tick(now: number): void;
}

interface RunRow {
  readonly element: PageElement;
  show(run: HistoryEntry): void;
  tick(now: number): void;
  remove(): void;
}

/** Fills a table's body with runs. */
export function createRunList(body: PageElement): RunList {
  const rows = new Map<string, RunRow>();
  return {
    show: (runs) => {
      const ids = new Set(runs.map(({ id }) => id));
      for (const [id, row] of rows) {
        if (ids.has(id)) continue;
        row.remove();
        rows.delete(id);
      }
      // From the oldest on, each new row goes above the one before it.
      let below: PageElement | null = null;
      for (const run of runs.toReversed()) {
        const row = rows.get(run.id) ?? createRunRow(run);
        if (!rows.has(run.id)) {
          rows.set(run.id, row);
          if (below === null) body.append(row.element);
          else below.before(row.element);
        }
        row.show(run);
        below = row.element;
      }
    },
    tick: (now) => {
      for (const row of rows.values()) row.tick(now);
    },
  };
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
  const actions = create("td", "run-actions");
  const kill = create("button", "link danger", "Kill");
  kill.setAttribute("type", "button");
  kill.setAttribute("aria-label", `Kill the run ${run.instanceId ?? ""}`);
  onPress(kill, () => post(`/control/kill/${encodeURIComponent(run.instanceId ?? "")}`));
  if (run.agent !== null && run.instanceId !== null) {
    actions.append(runLink(run.agent, run.instanceId, "log"));
  }
  actions.append(" ", kill);

  const element = create("tr");
  const calls = createCallsFold(element, run);
  element.append(
    cellOf("td", started.element),
    cellOf("td", triggerLabel(run), calls.button),
    cellOf("td", outcome, reason),
    cellOf("td", duration),
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
    tick,
    show(now) {
      const isRunning = now.outcome === null && now.startedAt !== null;
      startedAt = isRunning ? Date.parse(now.startedAt ?? "") : null;
      started.show(now.startedAt ?? now.at, "–");
      const word = isRunning ? "running" : (now.outcome ?? "waiting");
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
  readonly button: PageElement;
  show(run: HistoryEntry): void;
  remove(): void;
}

/** What unfolds below a run that called others, was called, or returned something. */
function createCallsFold(row: PageElement, run: HistoryEntry): CallsFold {
  const button = create("button", "link run-calls");
  button.setAttribute("type", "button");
  setAttribute(button, "aria-expanded", "false");
  let latest = run;
  let view: CallsView | null = null;
  let details: PageElement | null = null;
  const open = (): PageElement => {
    view = createCallsView(latest);
    const cell = cellOf("td", view.element);
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
export function cellOf(
  tag: "td" | "th",
  ...content: readonly (PageElement | string)[]
): PageElement {
  const cell = create(tag);
  cell.append(...content);
  return cell;
}
