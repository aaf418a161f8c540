import { isStale } from "../../../../src/interfaces/dashboard/live/use-document.ts";
import { operations } from "../../../../src/interfaces/operations/table.ts";
import { statusLists } from "../../../../streams/status/wire.ts";

const none = new Map<string, boolean>();
const dev = new Map([["dev", false]]);
const spent = new Map([["dev", true]]);

test("an update makes the answer of an operation stale if its row names the list that changed", () => {
  const staleBy = Object.fromEntries(
    statusLists.map((list) => [
      list,
      operations
        .filter((row) => isStale({ changedBy: row.changedBy }, { changed: [list] }, none))
        .map(({ address }) => address),
    ]),
  );
  expect(staleBy).toEqual({
    triggers: [
      "GET /api/stats/triggers",
      "GET /api/stats/hours",
      "GET /api/stats/refused-deliveries",
      "GET /api/agents/:name/sessions",
    ],
    questions: ["GET /api/questions", "GET /api/audit"],
    alerts: ["GET /api/alerts"],
    audit: ["GET /api/audit"],
  });
});

test("only reads are made stale by updates", () => {
  const rows = operations.filter(({ changedBy }) => changedBy !== undefined);
  expect(rows.filter(({ address }) => !address.startsWith("GET "))).toEqual([]);
});

test.each([
  [["agents"], undefined, {}, dev, true],
  [["agents"], undefined, {}, none, false],
  [["agents"], "dev", {}, dev, true],
  [["agents"], "cat", {}, dev, false],
  [["spending"], undefined, {}, dev, false],
  [["spending"], undefined, {}, spent, true],
  [["spending"], "dev", {}, spent, true],
  [["spending"], "cat", {}, spent, false],
  [["triggers"], "dev", { changed: ["triggers"] }, dev, true],
  [["triggers"], "cat", { changed: ["triggers"] }, dev, false],
  [["triggers"], "dev", {}, dev, false],
  [[], "dev", { changed: ["triggers"] }, dev, false],
] as const)(
  "an answer changed by %j, about the agent %s, is stale after the update %j: %#",
  (changedBy, agent, update, agents, expected) =>
    expect(isStale({ changedBy, agent }, update, agents)).toBe(expected),
);
