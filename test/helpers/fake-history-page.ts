import { refusedOutcomes, shownRuns } from "../../src/foundation/contracts/format.ts";
import type {
  HistoryEntry,
  HistoryPage,
  HistoryQuery,
  LatestRuns,
} from "../../src/foundation/contracts/history.ts";

/** Pages as the store does; a cursor is the id of the last entry that was shown, or a moment in epoch ms. */
export function fakeHistoryPage(
  entries: readonly HistoryEntry[],
  query: HistoryQuery,
): HistoryPage {
  const { page, limit, before, since, agent, kind, outcome, deadLetter, refused } = query;
  const { id: one, agentPart = "" } = query;
  const isExact = entries.some(({ agent: name }) => name === agentPart);
  const isNamed = (name: string | null): boolean =>
    isExact ? name === agentPart : (name ?? "").includes(agentPart);
  const matching = entries
    .filter(({ id }) => one === undefined || id === one)
    .filter((entry) => agentPart === "" || isNamed(entry.agent))
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
      : matching.findIndex(({ id, at }) => id === before || Date.parse(at) < Number(before)) +
        (/^\d{13}$/.test(before) ? 0 : 1);
  const triggers = matching.slice(from, from + limit);
  const isLast = from + limit >= matching.length;
  const nextBefore = isLast ? null : (triggers.at(-1)?.id ?? null);
  return { triggers, page, limit, total: matching.length, nextBefore };
}

/** The latest runs as the store reads them. */
export function fakeLatestRuns(
  entries: readonly HistoryEntry[],
  names: readonly string[],
): LatestRuns {
  const runsOf = (name: string) =>
    entries
      .filter((entry) => entry.agent === name)
      .flatMap(({ instanceId, outcome, at }) =>
        instanceId === null || outcome === null ? [] : [{ instanceId, outcome, at }],
      )
      .sort((a, b) => a.at.localeCompare(b.at))
      .slice(-shownRuns);
  return { agents: names.map((name) => ({ name, runs: runsOf(name) })) };
}
