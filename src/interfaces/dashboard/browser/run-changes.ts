import type { HistoryEntry } from "../../../foundation/contracts/history.ts";
import { changesAddress } from "./addresses.ts";
import { createLink, setAttribute } from "./dom.ts";

/** A run in a list of an agent's runs. */
export interface ListedRun extends HistoryEntry {
  /** The run before it, when that ran something else; null when it ran the same, or there is none in the list. */
  readonly changedSince: string | null;
}

/** Notes which runs ran something else than the one before them. The runs are given latest first. */
export function withChanges(runs: readonly HistoryEntry[]): readonly ListedRun[] {
  let before: HistoryEntry | null = null;
  const oldestFirst = runs.toReversed().map((run): ListedRun => {
    if (run.version === null || run.instanceId === null) return { ...run, changedSince: null };
    const isChanged = before !== null && before.version !== run.version;
    const changedSince = isChanged ? (before?.instanceId ?? null) : null;
    before = run;
    return { ...run, changedSince };
  });
  return oldestFirst.reverse();
}

/** The mark of a run that ran something else than the one before it. */
export interface ChangeMark {
  readonly element: HTMLElement;
  show(run: ListedRun): void;
}

/** Makes it, hidden. */
export function createChangeMark(): ChangeMark {
  const element = createLink("", "change-mark", "changed");
  element.hidden = true;
  return {
    element,
    show: ({ agent, instanceId, changedSince }) => {
      element.hidden = changedSince === null;
      if (agent === null || instanceId === null || changedSince === null) return;
      const what = `Config or instructions changed since the run before it, ${changedSince}`;
      setAttribute(element, "href", changesAddress(agent, instanceId, changedSince));
      setAttribute(element, "title", `${what}. Shows what changed.`);
      setAttribute(element, "aria-label", `What changed before the run ${instanceId}`);
    },
  };
}
