import { refusedOutcomes } from "../../src/foundation/contracts/state-word.ts";
import type {
  HistoryEntry,
  HistoryPage,
  HistoryQuery,
} from "../../src/foundation/contracts/history.ts";

/** Pages as the store does; its cursor is the id of the last entry that was shown. */
export function fakeHistoryPage(
  entries: readonly HistoryEntry[],
  query: HistoryQuery,
): HistoryPage {
  const { page, limit, before, since, agent, kind, outcome, deadLetter, refused } = query;
  const matching = entries
    .filter((entry) => agent === undefined || entry.agent === agent)
    .filter((entry) => kind === undefined || entry.kind === kind)
    .filter((entry) => outcome === undefined || entry.outcome === outcome)
    .filter(
      ({ outcome: end }) => refused === undefined || refusedOutcomes.some((one) => one === end),
    )
    .filter((entry) => deadLetter === undefined || entry.deadLetter === deadLetter)
    .filter((entry) => since === undefined || entry.at >= new Date(since).toISOString())
    .sort((a, b) => b.at.localeCompare(a.at) || b.id.localeCompare(a.id));
  const from =
    before === undefined
      ? (page - 1) * limit
      : matching.findIndex((entry) => entry.id === before) + 1;
  const triggers = matching.slice(from, from + limit);
  const isLast = from + limit >= matching.length;
  const nextBefore = isLast ? null : (triggers.at(-1)?.id ?? null);
  return { triggers, page, limit, total: matching.length, nextBefore };
}
