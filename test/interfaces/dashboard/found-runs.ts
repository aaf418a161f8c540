import type { SearchMatch, SearchRun } from "../../../src/features/search/search-report.ts";

/** A line that a search found, with its neighbours. */
export function aMatch(match: Partial<SearchMatch> = {}): SearchMatch {
  return {
    position: "dev-2026-11-21.log:4711",
    at: "2026-11-21T12:00:00.000Z",
    kind: "tool-result",
    isError: false,
    before: ["the line before"],
    text: "a needle in it",
    ranges: [[2, 8]],
    after: ["the line after"],
    ...match,
  };
}

/** A failed run of dev in which a search found one line. */
export function aFoundRun(run: Partial<SearchRun> = {}): SearchRun {
  return {
    instanceId: "dev-abcdefgh",
    agent: "dev",
    at: "2026-11-21T12:00:00.000Z",
    outcome: "failed",
    usd: 0.0123,
    count: 1,
    matches: [aMatch()],
    ...run,
  };
}
