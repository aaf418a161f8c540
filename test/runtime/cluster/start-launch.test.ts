import type { Launch, PlacedRun } from "../../../src/runtime/cluster/cluster-engine.ts";
import { startLaunch } from "../../../src/runtime/cluster/new-run.ts";
import { Problem } from "../../../src/foundation/errors.ts";

const away = () => Promise.reject(new Problem("engine_unreachable", "no answer"));

/** What an engine is asked for that breaks off at its first start, and then has the run like this. */
async function asksAfter(left: Partial<PlacedRun> | null): Promise<readonly string[]> {
  const asked: string[] = [];
  const run = { name: "al-1", instanceId: "dev-1", node: null, problem: null, endings: 0 };
  const placed = left === null ? [] : [{ ...run, state: "waiting" as const, ...left }];
  const engine = {
    ready: () => Promise.resolve(),
    list: () => Promise.resolve(placed),
    start: () => (asked.push("start") === 1 ? away() : Promise.resolve()),
    remove: (name: string) => Promise.resolve(void asked.push(`remove ${name}`)),
  };
  await startLaunch({ name: "al-1" } as Launch, {
    engine,
    startMs: 60_000,
    over: new AbortController().signal,
    onWaits: () => undefined,
    pauseMs: 1,
  });
  return asked;
}

test("the remains of an interrupted start are removed before the next one", async () => {
  const again = ["start", "remove al-1", "start"];
  expect(await asksAfter(null)).toEqual(again);
  expect(await asksAfter({ state: "ended", endings: 0 })).toEqual(again);
});

test("a run that the engine accepted is not started again", async () => {
  expect(await asksAfter({ state: "waiting" })).toEqual(["start"]);
  expect(await asksAfter({ state: "running" })).toEqual(["start"]);
  expect(await asksAfter({ state: "ended", endings: 1 })).toEqual(["start"]);
});
