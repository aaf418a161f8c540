import { spentEvents } from "../../../src/features/spend/used-budget-events.ts";
import type { MeteredCall } from "../../../src/foundation/contracts/spend.ts";
import type { RunEvent } from "../../../streams/vocabulary.ts";
import { answered, tempMeter } from "./support.ts";

test("each change of a run's spending is emitted with the agent's total of the day", async () => {
  let now = Date.parse("2026-11-30T22:59:00Z");
  const { meter, charge } = tempMeter({ now: () => now });
  const events: RunEvent[] = [];
  const calls: MeteredCall[] = [];
  spentEvents(
    meter,
    () => "UTC",
    () => now,
  ).subscribe((event) => events.push(event));
  meter.call$.subscribe((call) => calls.push(call));
  await charge(1_000);
  await charge(2_000, {}, { instanceId: "dev-2" });
  // The last day of a month ends when the month does.
  const endsAt = Date.parse("2026-12-01T00:00:00Z");
  const base = { type: "spent", agent: "dev", at: now };
  expect(events).toMatchObject([
    { ...base, instanceId: "dev-1", usd: 0, today: { usd: 0, endsAt } },
    { usd: 0.001, today: { usd: 0.001 } },
    { instanceId: "dev-2", usd: 0, today: { usd: 0.001 } },
    { usd: 0.002, today: { usd: 0.003 } },
  ]);
  const { usage } = answered(1_000);
  const of = { agent: "dev", model: "claude", status: 200 };
  expect(calls).toMatchObject([
    { ...of, instanceId: "dev-1", seq: 1, usage, usd: 0.001 },
    { ...of, instanceId: "dev-2", seq: 2 },
  ]);
  now = endsAt;
  await charge(500);
  expect(events.at(-1)).toMatchObject({ usd: 0.0015, today: { usd: 0.0005 } });
});
