import { agentsOf, cliProject } from "./fake-operator.ts";
import { historyEntry } from "../../helpers/history-entry.ts";

const cli = cliProject();

const triggers = "GET /api/stats/triggers";
const refusedDeliveries = "GET /api/stats/refused-deliveries";
const page = (...entries: readonly object[]) => ({
  triggers: entries,
  page: 1,
  limit: 20,
  total: entries.length,
  nextBefore: null,
});
const noneRefused = { ...agentsOf("dev", "review"), [refusedDeliveries]: { deliveries: [] } };
const entry = historyEntry({
  id: "1",
  kind: "webhook",
  source: "github",
  event: "issues",
  action: "opened",
  outcome: "dropped",
  reason: "queue_full",
  instanceId: null,
  durationMs: null,
  startedAt: null,
});

test.each([
  ["--dead-letter -n 5 -a dev", { limit: "5", deadLetter: "true", agent: "dev" }],
  [
    "--kind webhook --outcome dropped --since 2026-01-05T12:00:00+01:00",
    { limit: "20", kind: "webhook", outcome: "dropped", since: "2026-01-05T11:00:00.000Z" },
  ],
  [
    "-a dev --refused --kind schedule",
    { limit: "20", refused: "true", agent: "dev", kind: "cron" },
  ],
])("al history %s sends the scheduler the query %j", async (args, query) => {
  let asked = new URLSearchParams();
  await cli.serve({
    ...noneRefused,
    "GET /api/agents/dev/why-not": { now: [], refused: [], turnedAway: [], refusedDeliveries: [] },
    [triggers]: (request) => ((asked = request.query), page(entry)),
  });
  const stdout = await cli.output(`history ${args}`);
  expect(Object.fromEntries(asked)).toEqual(query);
  expect(stdout).toMatch(/dev +webhook github issues\.opened +dropped +1 +queue_full/);
});

test("al history lists refused webhook deliveries by time, unless filters exclude them", async () => {
  const [first, last] = [new Date(Date.now() - 60_000).toISOString(), new Date().toISOString()];
  const refused = { type: "github", source: "hub", result: "unverified", reason: "wrong" };
  const times = { count: 3, firstAt: first, lastAt: last };
  await cli.serve({
    [triggers]: page({ ...entry, at: first }),
    [refusedDeliveries]: { deliveries: [{ ...refused, ...times }] },
  });
  const [, one, two] = (await cli.output("history")).split("\n");
  expect(one).toMatch(/webhook hub +refused +3 times since .*: wrong/);
  expect(two).toMatch(/dev +webhook github/);
  expect(await cli.output("history --refused")).toContain("wrong");
  const document = { triggers: [{ id: "1" }], refusedDeliveries: [refused] };
  expect(await cli.json("history")).toMatchObject(document);
  expect(await cli.output("history -n 1")).not.toContain("github");
  for (const filter of ["-a dev", "--outcome failed", "--kind schedule"]) {
    expect(await cli.output(`history ${filter}`)).not.toContain("wrong");
  }
});

test("al history -a with --refused shows why the agent did not run, also because of its webhook filters", async () => {
  const at = new Date().toISOString();
  const stoppedBy = [[{ condition: "repos", wanted: "acme/x", got: "acme/y" }]];
  const turnedAway = { receiptId: "r-1", at, source: "github", event: "issues", action: null };
  const now = ["The scheduler is paused: ticks are skipped."];
  await cli.serve({
    ...noneRefused,
    "GET /api/agents/dev/why-not": {
      now,
      lookedBackTo: null,
      refused: [entry],
      turnedAway: [{ ...turnedAway, stoppedBy }],
      refusedDeliveries: [],
    },
    [triggers]: page(),
  });
  const { stdout, stderr } = await cli.al("history -a dev --refused");
  expect(stderr).toBe(`${now.join("")}\n`);
  expect(stdout).toMatch(/dev +webhook github issues +turned away +r-1 +repos: wants acme.x, got/);
  expect(stdout).toContain("queue_full");
  expect(await cli.json("history -a dev --refused")).toMatchObject({
    turnedAway: [{ stoppedBy }],
    triggers: [{}],
  });
});
