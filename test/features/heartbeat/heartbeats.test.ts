import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { Subject, takeUntil } from "rxjs";
import {
  beats,
  lagProblem,
  loopLag,
  overdue,
  storeProblem,
} from "../../../src/features/heartbeat/heartbeats.ts";
import { project } from "../../foundation/config/samples.ts";
import { pause } from "../../helpers/pause.ts";
import { schedulerContext } from "../../helpers/scheduler-context.ts";

/** Keeps the event loop busy for so many ms. */
function block(ms: number): void {
  const until = performance.now() + ms;
  while (performance.now() < until);
}

test("the scheduler is healthy while the measured delay of its event loop is at most a second", async () => {
  expect(lagProblem(1_000)).toBeNull();
  expect(lagProblem(1_001)?.text).toBe("its event loop is late by 1.0 s");
  await expect.poll(loopLag).toBeLessThan(500);
  const measured = loopLag();
  void pause(150, "the loop is being measured").then(() => block(600));
  expect(await measured).toBeGreaterThan(450);
});

test("the scheduler is healthy while its store accepts writes", async () => {
  const { projectDir, store } = schedulerContext();
  const write = () => store.settings.recordAlive(1_000_000);
  expect(await storeProblem(write)).toBeNull();
  expect(store.settings.lastAlive()).toBe(1_000_000);
  const other = new DatabaseSync(join(projectDir, ".al/state.db"));
  other.exec("BEGIN EXCLUSIVE");
  const problem = await storeProblem(write);
  other.exec("ROLLBACK");
  other.close();
  expect(problem?.text).toMatch(/^its store accepts no writes: .*state\.db/);
});

function overdueAt(times: readonly (number | null)[]): string | null {
  const agents = times.map((nextRunAt, index) => ({ name: `agent${index}`, nextRunAt }));
  return overdue(agents, 1_000_000)?.text ?? null;
}

test.each([
  [[969_999], "the schedule of agent0 is overdue"],
  [[969_999, 1, 1_000_001, null], "the schedule of agent0 and 1 more is overdue"],
])(
  "the scheduler is unhealthy at the time 1,000,000 ms if schedules have been due since %j",
  (times, text) => {
    expect(overdueAt(times)).toBe(text);
  },
);

test("the scheduler is healthy while its schedules are at most 30 s late", () =>
  expect(overdueAt([970_000])).toBeNull());

const monitor = { heartbeat: "http://monitor.example.test/" };

/** Addresses that were pinged and warnings while `during` runs; a check each 20 ms. */
async function whileBeating(
  during: (pings: readonly string[]) => Promise<unknown>,
  lag = () => Promise.resolve(2),
  context = schedulerContext({ project: monitor }),
) {
  const pings: string[] = [];
  const stop$ = new Subject<void>();
  beats(context, (_lagMs, url) => pings.push(url), { firstMs: 10, everyMs: 20, lag })
    .pipe(takeUntil(stop$))
    .subscribe();
  await during(pings);
  stop$.next();
  await pause(50, "a check that has begun may end");
  return { pings, warnings: context.lines };
}
const aWhile = () => pause(150, "several checks are due");

test("the project's heartbeat is repeated while the scheduler is healthy", async () => {
  const { warnings } = await whileBeating((pings) =>
    expect.poll(() => pings.length).toBeGreaterThan(2),
  );
  expect(warnings).toEqual([]);
});

test("the project's heartbeat stops while the scheduler is unhealthy; a warning names the reason once a minute", async () => {
  const { pings, warnings } = await whileBeating(aWhile, () => Promise.resolve(2_000));
  expect(pings).toEqual([]);
  expect(warnings).toEqual([
    "no heartbeat is sent while the scheduler is unhealthy: its event loop is late by 2.0 s",
  ]);
});

test("the project's heartbeat starts once a monitor is configured, and measures nothing before", async () => {
  let checks = 0;
  const context = schedulerContext();
  const { pings } = await whileBeating(
    async () => {
      await aWhile();
      expect(checks).toBe(0);
      context.project$.next({ ...project(""), heartbeat: "http://monitor.example.test/new" });
      await aWhile();
    },
    () => Promise.resolve(++checks),
    context,
  );
  expect(pings[0]).toBe("http://monitor.example.test/new");
});

test("the project's heartbeat runs one health check at a time", async () => {
  let open = 0;
  let atOnce = 0;
  await whileBeating(aWhile, async () => {
    atOnce = Math.max(atOnce, ++open);
    await pause(50, "the next check is due");
    open -= 1;
    return 0;
  });
  expect(atOnce).toBe(1);
});
