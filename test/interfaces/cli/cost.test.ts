import pc from "picocolors";
import { renderCost } from "../../../src/interfaces/cli/status/render-cost.ts";
import type { SpendAnswer } from "../../../src/features/spend/spend-report.ts";
import { anAgentStatus } from "../../helpers/agent-status.ts";
import { cliProject, snapshotOf } from "./fake-operator.ts";

const cli = cliProject();
let queries: string[];
let answer: SpendAnswer;

const row = { subscriptionUsd: 0, unpriced: 0, estimated: 0 };
const limit = { endsAt: "2026-12-01T00:00:00.000Z" };
const spent: SpendAnswer = {
  rows: [
    { ...row, key: "dev", usd: 1.25, calls: 1_200, tokens: 3_400_000 },
    { ...row, key: "cat", usd: 0.004, calls: 1, tokens: 900, unpriced: 1, estimated: 1 },
  ],
  limits: [
    { ...limit, scope: "project", window: "2026-11-22", usd: 0.5, limit: 20, reserved: 0.1 },
    { ...limit, scope: "project", window: "2026-11", usd: 3, limit: null, reserved: 0.1 },
    { ...limit, scope: "agent:dev", window: "2026-11", usd: 0, limit: 5, reserved: 0 },
    { ...limit, scope: "agent:cat", window: "2026-11", usd: 1, limit: null, reserved: 0 },
  ],
  forecast: { monthUsd: 3.1, p90Usd: 7 },
};
const nothing: SpendAnswer = { rows: [], limits: [], forecast: null };

beforeEach(async () => {
  queries = [];
  answer = spent;
  await cli.serve({
    "GET /api/spend": ({ query }) => {
      queries.push(query.toString());
      return answer;
    },
    "GET /control/status": () => snapshotOf([anAgentStatus("dev")]),
  });
});

test("al cost prints spending, limits and the forecast", async () => {
  const stdout = await cli.output(["cost"]);
  expect(queries).toEqual(["by=agent"]);
  expect(stdout).toBe(
    [
      "Agent  Cost    Calls  Tokens",
      "dev    $1.25   1,200  3,400,000",
      "cat    $0.004  1      900        1 unpriced, 1 estimated",
      "all    $1.25",
      "",
      "Of       In          Spent",
      "project  2026-11-22  $0.50 of $20.00, $0.10 reserved",
      "project  2026-11     $3.00, $0.10 reserved",
      "dev      2026-11     $0.00 of $5.00",
      "",
      "Agents will cost about $3.10 a month (p90 $7.00).",
      "",
      "Unpriced calls count at the dearest price of their provider; al doctor names their models.",
      "",
    ].join("\n"),
  );
});

test("al cost filters by one agent by day, by models, and by start", async () => {
  await cli.al(["cost", "dev"]);
  await cli.al(["cost", "dev", "--by", "model", "--since", "2026-11-01T00:00:00+01:00"]);
  expect(queries).toEqual([
    "by=day&agent=dev",
    "by=model&since=2026-10-31T23%3A00%3A00.000Z&agent=dev",
  ]);
});

test("al cost --json prints the answer unchanged", async () =>
  expect(await cli.json(["cost"])).toEqual(spent));

test("al cost reports that nothing was spent, and suggests a similar agent", async () => {
  answer = nothing;
  const none = await cli.al(["cost"]);
  expect(none).toMatchObject({ code: 0, stdout: "" });
  expect(none.stderr).toContain("no run asked a model in the last 30 days");
  const ofDev = await cli.al(["cost", "dev", "--since", "2d"]);
  expect(ofDev.stderr).toContain("no run of dev asked a model since then");
  const unknown = await cli.failure(["cost", "deb"]);
  expect(unknown).toMatch(/no agent "deb"[\s\S]*"?dev/);
});

test("a wrong kind or moment is a usage error", async () => {
  expect(await cli.al(["cost", "--by", "hour"])).toMatchObject({ code: 2 });
  expect(await cli.al(["cost", "--since", "soon"])).toMatchObject({ code: 2 });
});

test.each([64, 80, 120])("on a terminal of %i columns no name of an agent is cut", (columns) => {
  const style = { colors: pc.createColors(false), columns };
  const name = "a-very-long-name-of-an-agent";
  const rows = spent.rows.map((one) => ({ ...one, key: name }));
  const limits = [
    { ...limit, scope: `agent:${name}`, window: "2026-11", usd: 1, limit: 5, reserved: 1 },
  ];
  const lines = renderCost({ ...spent, rows, limits, forecast: null }, "agent", style).split("\n");
  const named = lines.filter((line) => line.startsWith(`${name} `));
  expect(named).toHaveLength(rows.length + limits.length);
  expect(Math.max(...named.map(({ length }) => length))).toBeLessThanOrEqual(columns);
});
