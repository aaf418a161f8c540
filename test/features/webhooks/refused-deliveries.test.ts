import { createRefusedDeliveries } from "../../../src/features/webhooks/refused-deliveries.ts";
import type { RefusedDelivery } from "../../../src/features/webhooks/delivery-report.ts";
import { tempStore } from "../../foundation/store/support.ts";

const minuteMs = 60_000;
const dayMs = 86_400_000;
const at = (ms: number) => new Date(ms).toISOString();

function refused(change: Partial<RefusedDelivery> = {}): RefusedDelivery {
  return { type: "github", source: "hub", result: "unverified", reason: "wrong", ...change };
}

test("refused deliveries of one source within ten minutes are one row, the latest first", async () => {
  let now = 0;
  const deliveries = tempStore(undefined, () => now).tables(createRefusedDeliveries);
  deliveries.add(refused());
  await deliveries.flush();
  now = 4 * minuteMs;
  deliveries.add(refused({ reason: "no signature" }));
  deliveries.add(refused({ source: null, type: "unknown", result: "not_found" }));
  await deliveries.flush();
  now = 11 * minuteMs;
  deliveries.add(refused());
  deliveries.add(refused({ source: "other", result: "duplicate" }));
  await deliveries.flush();
  const row = { type: "github", source: "hub", result: "unverified" };
  const query = { limit: 50 };
  expect(deliveries.query({ ...query, source: "hub" })).toEqual([
    { ...row, count: 1, firstAt: at(now), lastAt: at(now), reason: "wrong" },
    { ...row, count: 2, firstAt: at(0), lastAt: at(4 * minuteMs), reason: "no signature" },
  ]);
  expect(deliveries.query(query)).toHaveLength(4);
  expect(deliveries.query({ limit: 1 })).toHaveLength(1);
  expect(deliveries.query({ ...query, since: at(5 * minuteMs) })).toHaveLength(2);
});

test("refused deliveries are deleted with the history", async () => {
  let now = 10 * dayMs;
  const store = tempStore(undefined, () => now);
  const deliveries = store.tables(createRefusedDeliveries);
  deliveries.add(refused());
  await deliveries.flush();
  now = 20 * dayMs;
  deliveries.add(refused());
  await deliveries.flush();
  await store.prune({ now, days: 5, maxBytes: 1e9 });
  expect(deliveries.query({ limit: 50 })).toMatchObject([{ lastAt: at(now) }]);
});
