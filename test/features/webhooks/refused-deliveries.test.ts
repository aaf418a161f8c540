import { createRefusedDeliveries } from "../../../src/features/webhooks/refused-deliveries.ts";
import { openStore } from "../../../src/features/open-store.ts";
import type { RefusedDelivery } from "../../../src/features/webhooks/delivery-report.ts";
import { openStoreReader } from "../../../src/foundation/store/store.ts";
import { tempStore } from "../../foundation/store/support.ts";
import { tempDir } from "../../helpers/temp-dir.ts";

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

test("a flood of refused deliveries is one commit and one row, and survives a restart", () => {
  const dir = tempDir();
  const store = openStore(dir);
  const deliveries = store.tables(createRefusedDeliveries);
  for (let n = 0; n < 100_000; n += 1) deliveries.add(refused());
  expect(deliveries.query({ limit: 50 })).toEqual([]);
  store.close();
  const reader = openStoreReader(dir);
  expect(reader?.tables(createRefusedDeliveries).query({ limit: 50 })).toMatchObject([
    { count: 100_000 },
  ]);
  reader?.close();
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
