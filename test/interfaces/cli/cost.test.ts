import type { SpendAnswer } from "../../../src/features/spend/spend-report.ts";
import { cliProject } from "./fake-operator.ts";

const cli = cliProject();

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

test("al cost prints spending, limits and the forecast", async () => {
  await cli.serve({ "GET /api/spend": spent });
  await expect(await cli.output("cost")).toMatchFileSnapshot("cost.txt");
});
