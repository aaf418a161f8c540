import { refusedOutcomes } from "../../src/foundation/contracts/format.ts";
import type {
  HistoryEntry,
  HistoryPage,
  HistoryQuery,
  OutcomeCounts,
} from "../../src/foundation/contracts/history.ts";

/** Pages as the store does; a cursor is the id of the last entry that was shown, or a moment in epoch ms. */
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
      : matching.findIndex(({ id, at }) => id === before || Date.parse(at) < Number(before)) +
        (/^\d{13}$/.test(before) ? 0 : 1);
  const triggers = matching.slice(from, from + limit);
  const isLast = from + limit >= matching.length;
  const nextBefore = isLast ? null : (triggers.at(-1)?.id ?? null);
  return { triggers, page, limit, total: matching.length, nextBefore };
}

const [hourMs, shownBuckets] = [3_600_000, 24];

/** Outcomes as the store counts them, in buckets that end with the current hour. */
export function fakeOutcomes(
  entries: readonly HistoryEntry[],
  agents: readonly { readonly name: string }[],
): OutcomeCounts {
  const end = Math.ceil((Date.now() + 1) / hourMs) * hourMs;
  const starts = Array.from(
    { length: shownBuckets },
    (_, n) => end - (shownBuckets - n) * 3 * hourMs,
  );
  const countsOf = (name: string) =>
    starts.map((from) => {
      const own = entries.filter(({ agent, at }) => agent === name && isWithin(at, from));
      const count: Record<string, number> = {};
      for (const { outcome } of own) count[outcome ?? "open"] = (count[outcome ?? "open"] ?? 0) + 1;
      return count;
    });
  return {
    buckets: starts.map((at) => ({ since: new Date(at).toISOString(), before: `${at}` })),
    agents: agents
      .map(({ name }) => ({ name, counts: countsOf(name) }))
      .filter(({ counts }) => counts.some((count) => Object.keys(count).length > 0)),
  };
}

function isWithin(at: string, from: number): boolean {
  return Date.parse(at) >= from && Date.parse(at) < from + 3 * hourMs;
}
