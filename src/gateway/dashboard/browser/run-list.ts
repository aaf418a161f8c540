import type { HistoryEntry } from "../../../contracts/history.ts";
import { onPress, post } from "./actions.ts";
import { create, setAttribute, setText } from "./dom.ts";
import type { PageElement } from "./dom.ts";
import { compactCount, costText, durationText, outcomeText } from "./format.ts";
import { whyText } from "./trigger-words.ts";
import { createTime } from "./time-cell.ts";

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
}

/** Fills a table's body with runs. */
export function createRunList(body: PageElement): RunList {
  const rows = new Map<string, RunRow>();
  return {
    show: (runs) => {
      const ids = new Set(runs.map(({ id }) => id));
      for (const [id, row] of rows) {
        if (ids.has(id)) continue;
        row.element.remove();
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

const startWords: Readonly<Record<HistoryEntry["kind"], string>> = {
  cron: "schedule",
  webhook: "webhook",
  "agent-call": "agent call",
  manual: "hand",
};

/** What started a run, in few words: `webhook issues opened`. */
export function triggerWords({ kind, source, event, action }: HistoryEntry): string {
  const details = kind === "webhook" ? [event, action] : kind === "agent-call" ? [source] : [];
  return [startWords[kind], ...details].filter((word) => word !== null).join(" ");
}

function createRunRow(run: HistoryEntry): RunRow {
  const started = createTime("past");
  const outcome = create("span");
  const reason = create("div", "sub");
  const duration = create("span");
  const tokens = create("td", "number");
  const cost = create("td", "number");
  const actions = create("td", "run-actions");
  const log = logLink(run);
  const kill = create("button", "link danger", "Kill");
  kill.setAttribute("type", "button");
  kill.setAttribute("aria-label", `Kill the run ${run.instanceId ?? ""}`);
  onPress(kill, () => post(`/control/kill/${encodeURIComponent(run.instanceId ?? "")}`));
  actions.append(...log, " ", kill);

  const element = create("tr");
  element.append(
    cellOf("td", started.element),
    cellOf("td", triggerWords(run)),
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
    },
  };
}

function logLink({ agent, instanceId }: HistoryEntry): readonly PageElement[] {
  if (agent === null || instanceId === null) return [];
  const link = create("a", "", "log");
  link.href = `/dashboard/agents/${encodeURIComponent(agent)}/logs?instance=${encodeURIComponent(instanceId)}`;
  link.setAttribute("aria-label", `Log of the run ${instanceId}`);
  return [link];
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
