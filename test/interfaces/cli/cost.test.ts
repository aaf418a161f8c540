import type { SpendAnswer } from "../../../src/features/spend/spend-report.ts";
import { agentsOf, cliProject } from "./fake-operator.ts";

const cli = cliProject();
let queries: string[];
let answer: SpendAnswer;

const row = { subscriptionUsd: 0, unpriced: 0, estimated: 0 };
const limit = { endsAt: "2026-12-01T00:00:00.000Z", window: "2026-11", reserved: 0 };
const spent: SpendAnswer = {
  rows: [
    { ...row, key: "dev", usd: 1.25, calls: 1_200, tokens: 3_400_000 },
    { ...row, key: "cat", usd: 0.004, calls: 1, tokens: 900, unpriced: 1, estimated: 1 },
  ],
  limits: [
    { ...limit, scope: "project", window: "2026-11-22", usd: 0.5, limit: 20, reserved: 0.1 },
    { ...limit, scope: "project", usd: 3, limit: null, reserved: 0.1 },
    { ...limit, scope: "agent:dev", usd: 0, limit: 5 },
    { ...limit, scope: "agent:cat", usd: 1, limit: null },
  ],
  forecast: { monthUsd: 3.1, p90Usd: 7 },
};

beforeEach(async () => {
  queries = [];
  answer = spent;
  await cli.serve({
    ...agentsOf("dev"),
    "GET /api/spend": ({ query }) => {
      queries.push(query.toString());
      return answer;
    },
  });
});

test("al cost prints spending, limits and the forecast", async () => {
  expect((await cli.output("cost")).split("\n")).toEqual([
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
  ]);
});
