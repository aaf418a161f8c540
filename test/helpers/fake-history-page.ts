import { refusedOutcomes } from "../../streams/outcomes.ts";
import { shownRuns } from "../../src/foundation/contracts/format.ts";
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
  const { page, limit, before, since, refused, agentPart = "" } = query;
  const { id: one, agent, kind, outcome, deadLetter } = query;
  const wanted = Object.entries({ id: one, agent, kind, outcome, deadLetter });
  const isExact = entries.some((entry) => entry.agent === agentPart);
  const isNamed = (name: string | null): boolean =>
    isExact ? name === agentPart : (name ?? "").includes(agentPart);
  const refusals: readonly (string | null)[] = refusedOutcomes;
  const matching = entries
    .filter((entry) =>
      wanted.every(
        ([key, value]) => value === undefined || entry[key as keyof HistoryEntry] === value,
      ),
    )
    .filter((entry) => isNamed(entry.agent))
    .filter((entry) => refused === undefined || refusals.includes(entry.outcome))
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
): LatestRuns["agents"] {
  const runsOf = (name: string) =>
    entries
      .filter((entry) => entry.agent === name)
      .flatMap(({ instanceId, outcome, at }) =>
        instanceId === null || outcome === null ? [] : [{ instanceId, outcome, at }],
      )
      .sort((a, b) => a.at.localeCompare(b.at))
      .slice(-shownRuns);
  return names.map((name) => ({ name, runs: runsOf(name) }));
}
