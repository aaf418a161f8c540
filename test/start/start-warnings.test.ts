import { expect, test } from "vitest";
import { startWarnings } from "../../src/start/observability.ts";
import { webhookItem } from "../foundation/store/support.ts";

test("a start without anything odd says nothing", () => {
  expect(startWarnings({}, { lost: [], neverBegun: [] })).toEqual([]);
});

test("the password that is no longer used is named when it is set, and its value is not told", () => {
  const [warning] = startWarnings({ AL_DASHBOARD_SECRET: "hush" }, { lost: [], neverBegun: [] });
  expect(warning).toContain("AL_DASHBOARD_SECRET");
  expect(warning).not.toContain("hush");
});

test("a lost run is told with what becomes of its work", () => {
  const item = webhookItem("w1", "r1");
  const lost = {
    item,
    instanceId: "dev-aaaaaaaa",
    startedAt: 1,
    waitedMs: 0,
    leftByStop: false,
    outcome: "lost",
  } as const;
  const both = [
    { ...lost, retry: { ...item, id: "w2", attempt: 2 } },
    { ...lost, retry: null },
  ];
  const [waits, once, twice] = startWarnings({}, { lost: both, neverBegun: [lost] });
  expect(waits).toMatch(/^1 run had not begun .* waits again, as the same try$/);
  expect(once).toMatch(/dev-aaaaaaaa of agent dev .* its work waits once more/);
  expect(twice).toContain("it was the second try");
});
