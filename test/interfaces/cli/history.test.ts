import { anAgentStatus } from "../../helpers/agent-status.ts";
import { cliProject, snapshotOf } from "./fake-operator.ts";
import { onTerminal, whyNoTerminal } from "./terminal.ts";
import { historyEntry } from "../../helpers/history-entry.ts";

const cli = cliProject();

const snapshot = snapshotOf([anAgentStatus("dev"), anAgentStatus("review")]);

const noneRefused = { "GET /api/stats/refused-deliveries": () => ({ deliveries: [] }) };
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

test("al history filters as asked, and prints a table", async () => {
  let query = "";
  await cli.serve({
    "GET /api/stats/triggers": (request) => {
      query = request.query.toString();
      return { triggers: [entry], page: 1, limit: 5, total: 1, nextBefore: null };
    },
  });
  const { stdout } = await cli.al(["history", "--dead-letter", "-n", "5", "-a", "dev"]);
  expect(query).toBe("limit=5&deadLetter=true&agent=dev");
  expect(stdout).toMatch(/dev +webhook github issues\.opened +dropped +1 +queue_full/);
});

test("al history filters by kind, outcome and time, which combine", async () => {
  let query = new URLSearchParams();
  const page = { triggers: [], page: 1, limit: 20, total: 0, nextBefore: null };
  await cli.serve({
    ...noneRefused,
    "GET /api/stats/triggers": (request) => ((query = request.query), page),
  });
  const filters = ["--kind", "webhook", "--outcome", "dropped", "--dead-letter"];
  const asked = await cli.al(["history", ...filters, "--since", "2026-01-05T12:00:00+01:00"]);
  expect(Object.fromEntries(query)).toEqual({
    limit: "20",
    deadLetter: "true",
    kind: "webhook",
    outcome: "dropped",
    since: "2026-01-05T11:00:00.000Z",
  });
  expect(asked).toMatchObject({ code: 0, stdout: "" });
  expect(asked.stderr).toBe("no entries match these filters\n");
  const before = Date.now();
  expect(await cli.al(["history", "--since", "1h60m", "--json"])).toMatchObject({ code: 0 });
  expect(Math.abs(before - 7_200_000 - Date.parse(query.get("since") ?? ""))).toBeLessThan(20_000);
  expect(await cli.al(["history", "--since", "999999999d"])).toMatchObject({ code: 0 });
  expect(await cli.al(["history", "--outcome", "bad"])).toMatchObject({ code: 2 });
  await cli.al(["history", "-a", "dev", "--refused", "--kind", "schedule"]);
  expect(query.toString()).toBe("limit=20&refused=true&agent=dev&kind=cron");
});

test("al history includes refused deliveries, by time, unless only work is wanted", async () => {
  const [first, last] = [new Date(Date.now() - 60_000).toISOString(), new Date().toISOString()];
  const refused = { type: "github", source: "hub", result: "unverified", reason: "wrong" };
  const times = { count: 3, firstAt: first, lastAt: last };
  await cli.serve({
    "GET /api/stats/triggers": () => ({
      triggers: [{ ...entry, at: first }],
      page: 1,
      limit: 5,
      total: 1,
      nextBefore: null,
    }),
    "GET /api/stats/refused-deliveries": () => ({ deliveries: [{ ...refused, ...times }] }),
  });
  const lines = (await cli.al(["history"])).stdout.split("\n");
  expect(lines[1]).toMatch(/webhook hub +refused +3 times since .*: wrong/);
  expect(lines[2]).toMatch(/dev +webhook github/);
  expect((await cli.al(["history", "--refused"])).stdout).toContain("wrong");
  expect((await cli.al(["history", "-n", "1"])).stdout).not.toContain("github");
  for (const filter of [
    ["-a", "dev"],
    ["--outcome", "failed"],
    ["--kind", "schedule"],
  ]) {
    expect((await cli.al(["history", ...filter])).stdout).not.toContain("wrong");
  }
});

test.skipIf(whyNoTerminal() !== null)(
  "al history on a terminal names the command that shows a run",
  async () => {
    const run = historyEntry({ id: "2", instanceId: "dev-aaaaaaaa" });
    const shared = { page: 1, limit: 20, total: 1, nextBefore: null };
    await cli.serve({
      ...noneRefused,
      "GET /api/stats/triggers": ({ query }) => ({
        ...shared,
        triggers: [query.get("agent") === "dev" ? run : entry],
      }),
    });
    const one = onTerminal(cli, ["history", "-a", "dev"]);
    await one.until("al show <instance> shows a run in full");
    expect(await one.ended).toBe(0);
    const none = onTerminal(cli, ["history"]);
    expect(await none.ended).toBe(0);
    expect(none.shown()).not.toContain("al show");
  },
);

test("al history of an agent with --refused shows why it did not run, also by its own filters", async () => {
  const at = new Date().toISOString();
  const stoppedBy = [[{ condition: "repos", wanted: "acme/x", got: "acme/y" }]];
  const turnedAway = { receiptId: "r-1", at, source: "github", event: "issues", action: null };
  const why = {
    now: ["The scheduler is paused: ticks are skipped."],
    lookedBackTo: null,
    refused: [entry],
    turnedAway: [{ ...turnedAway, stoppedBy }],
    refusedDeliveries: [],
  };
  await cli.serve({
    "GET /control/status": () => snapshot,
    "GET /api/agents/dev/why-not": () => why,
    "GET /api/stats/triggers": () => ({ triggers: [], total: 0 }),
  });
  const { stdout, stderr } = await cli.al(["history", "-a", "dev", "--refused"]);
  expect(stderr).toBe("The scheduler is paused: ticks are skipped.\n");
  expect(stdout).toMatch(/dev +webhook github issues +turned away +r-1 +repos: wants acme.x, got/);
  expect(stdout).toContain("queue_full");
  expect(await cli.json(["history", "-a", "dev", "--refused"])).toMatchObject({
    turnedAway: [{ stoppedBy }],
    triggers: [{}],
  });
  expect((await cli.al(["history", "-a", "nope", "--refused"])).code).not.toBe(0);
});

test("an empty history is no data", async () => {
  const page = { triggers: [], page: 1, limit: 20, total: 0, nextBefore: null };
  await cli.serve({ ...noneRefused, "GET /api/stats/triggers": () => page });
  expect(await cli.al(["history"])).toMatchObject({ code: 0, stdout: "" });
  const json = await cli.json(["history"]);
  expect(json).toEqual({ ...page, refusedDeliveries: [] });
});

test("an unknown agent is reported, unlike one that has not run yet", async () => {
  const page = { triggers: [], page: 1, limit: 20, total: 0, nextBefore: null };
  const status = () => snapshot;
  await cli.serve({ "GET /api/stats/triggers": () => page, "GET /control/status": status });
  const slip = await cli.al(["history", "-a", "reveiw"]);
  expect(slip).toMatchObject({ code: 1, stdout: "" });
  expect(slip.stderr).toContain('did you mean "review"?');
  const idle = await cli.al(["history", "-a", "review"]);
  expect(idle).toMatchObject({ code: 0, stderr: "nothing of review was triggered yet\n" });
});
