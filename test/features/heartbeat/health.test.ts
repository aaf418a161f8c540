import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { Subject, takeUntil } from "rxjs";
import { beforeEach, describe, expect, test } from "vitest";
import { beats } from "../../../src/features/heartbeat/beats.ts";
import { checkHealth, loopLag } from "../../../src/features/heartbeat/health.ts";
import type { HealthDeps } from "../../../src/features/heartbeat/health.ts";
import type { Heartbeat } from "../../../src/features/heartbeat/pinger.ts";
import type { Store } from "../../../src/foundation/store/store.ts";
import { tempDir, tempStore } from "../../foundation/store/support.ts";

let dir: string;
let store: Store;
beforeEach(() => {
  dir = tempDir();
  store = tempStore(dir);
});

/** A scheduler that is well, at the time 1,000,000. */
function scheduler(deps: Partial<HealthDeps> = {}): HealthDeps {
  return {
    loopLag: () => Promise.resolve(2),
    write: () => store.settings.recordAlive(1_000_000),
    agents: () => [{ name: "manual", nextRunAt: null }],
    now: () => 1_000_000,
    ...deps,
  };
}

/** Keeps the event loop busy for so many ms. */
function block(ms: number): void {
  const until = performance.now() + ms;
  while (performance.now() < until);
}

describe("the scheduler's health", () => {
  test("is well, and the store was written", async () => {
    expect(await checkHealth(scheduler())).toEqual({ lagMs: 2, problem: null });
    expect(store.settings.lastAlive()).toBe(1_000_000);
  });

  test("is measured at the event loop itself", async () => {
    expect(await loopLag()).toBeLessThan(500);
    const measured = loopLag();
    setTimeout(() => block(600), 150);
    expect(await measured).toBeGreaterThan(450);
  });

  test.each([
    [1000, null],
    [1001, "its event loop is late by 1.0 s"],
  ])("an event loop that is late by %s ms", async (lagMs, text) => {
    const { problem } = await checkHealth(scheduler({ loopLag: () => Promise.resolve(lagMs) }));
    expect(problem?.text ?? null).toBe(text);
  });

  test("a store that another process holds takes no writes", async () => {
    const other = new DatabaseSync(join(dir, ".al/state.db"));
    other.exec("BEGIN EXCLUSIVE");
    const { problem } = await checkHealth(scheduler());
    other.exec("ROLLBACK");
    other.close();
    expect(problem).toMatchObject({ about: "store" });
    expect(problem?.text).toMatch(/^its store takes no writes: .*state\.db/);
    expect((await checkHealth(scheduler())).problem).toBeNull();
  });

  test.each([
    [[970_000], null],
    [[969_999], "the schedule of agent0 is overdue"],
    [[969_999, 1, 1_000_001, null], "the schedule of agent0 and 1 more is overdue"],
  ])("schedules that are due at %j", async (times, text) => {
    const agents = times.map((nextRunAt, index) => ({ name: `agent${index}`, nextRunAt }));
    const { problem } = await checkHealth(scheduler({ agents: () => agents }));
    expect(problem?.text ?? null).toBe(text);
  });
});

describe("the project's heartbeat", () => {
  /** What is sent and warned of while `during` runs; a check each 20 ms. */
  async function whileBeating(
    health: HealthDeps,
    during: () => Promise<unknown>,
    url: () => string | null = () => "http://monitor.example.test/",
  ) {
    const pings: Heartbeat[] = [];
    const warnings: string[] = [];
    const stop$ = new Subject<void>();
    beats({
      health,
      url,
      pinger: { ping: (heartbeat) => pings.push(heartbeat) },
      warn: (message) => warnings.push(message),
      firstMs: 10,
      everyMs: 20,
    })
      .pipe(takeUntil(stop$))
      .subscribe();
    await during();
    stop$.next();
    return { pings, warnings };
  }
  const aWhile = () => new Promise((resolve) => setTimeout(resolve, 150));

  test("comes again and again while the scheduler is well", async () => {
    const { pings, warnings } = await whileBeating(scheduler(), aWhile);
    expect(pings.length).toBeGreaterThan(2);
    expect(pings[0]).toEqual({ owner: "the project", url: "http://monitor.example.test/" });
    expect(warnings).toEqual([]);
  });

  test("does not come while it is not; why is a warning, once a minute", async () => {
    const agents = () => [{ name: "dev", nextRunAt: 0 }];
    const { pings, warnings } = await whileBeating(scheduler({ agents }), aWhile);
    expect(pings).toEqual([]);
    expect(warnings).toEqual([
      "no heartbeat is sent while the scheduler is not well: the schedule of dev is overdue",
    ]);
  });

  test("measures nothing without a monitor, and begins with the edit that names one", async () => {
    let checks = 0;
    let url: string | null = null;
    const loopLag = () => Promise.resolve(++checks);
    const { pings } = await whileBeating(
      scheduler({ loopLag }),
      async () => {
        await aWhile();
        expect(checks).toBe(0);
        url = "http://monitor.example.test/new";
        await aWhile();
      },
      () => url,
    );
    expect(pings[0]?.url).toBe("http://monitor.example.test/new");
  });

  test("a check that takes long is not begun twice", async () => {
    let open = 0;
    let atOnce = 0;
    const loopLag = async () => {
      atOnce = Math.max(atOnce, ++open);
      await new Promise((resolve) => setTimeout(resolve, 50));
      open -= 1;
      return 0;
    };
    await whileBeating(scheduler({ loopLag }), aWhile);
    expect(atOnce).toBe(1);
  });
});
