import { EMPTY, firstValueFrom, lastValueFrom, NEVER, of, Subject, tap, toArray } from "rxjs";
import type { Observable } from "rxjs";
import type { Runner, RunnerEvent, RunnerExit, StopReason } from "../../../streams/runs/runner.ts";
import type { RunRequest } from "../../../streams/vocabulary.ts";
import { contractGraceMs, type Scenario } from "./scenarios.ts";
import { perTest } from "../../helpers/per-test.ts";

export interface RunnerHarness {
  readonly runner: Runner;
  request(scenario: Scenario): RunRequest;
  /** The remains of a run: processes, folders. Empty when all are gone. */
  leftovers(instanceId: string): Promise<readonly string[]>;
  dispose(): Promise<void>;
}

/** The promises of streams/runs/runner.ts for every runtime. */
export function runnerContract(name: string, makeHarness: () => Promise<RunnerHarness>): void {
  describe(`${name} keeps the runner contract`, () => {
    const harness = perTest(makeHarness, (harness) => harness.dispose());

    const run = (scenario: Scenario, stop$: Observable<StopReason> = NEVER) =>
      harness().runner.run(harness().request(scenario), stop$);
    const eventsOf = (run$: Observable<RunnerEvent>) => lastValueFrom(run$.pipe(toArray()));

    /** Runs a scenario and asks it to end once it says `ready`. */
    async function stopped(scenario: Scenario, reason: StopReason) {
      const stop$ = new Subject<StopReason>();
      const askedAt = { ms: 0 };
      const run$ = run(scenario, stop$).pipe(
        tap((event) => {
          if (!messagesOf([event]).includes("ready")) return;
          askedAt.ms = performance.now();
          stop$.next(reason);
        }),
      );
      const events = await eventsOf(run$);
      return { events, exit: exitOf(events), tookMs: performance.now() - askedAt.ms };
    }

    test("the runner emits the output in order, then one exit, then completes", async () => {
      const request = harness().request("three-lines");
      const events = await eventsOf(harness().runner.run(request, EMPTY));
      expect(messagesOf(events)).toEqual(["one", "two", "three"]);
      expect(events).toContainEqual({ type: "status-text", text: "working" });
      expect(exitOf(events)).toMatchObject({ exitCode: 0, error: null, usage: { tokens: 7 } });
      for (const event of events) {
        if (event.type !== "output") continue;
        expect(event.entry).toMatchObject({
          agent: request.agent.name,
          instanceId: request.instanceId,
        });
      }
      expect(await harness().leftovers(request.instanceId)).toEqual([]);
    });

    test("the runner starts nothing before it is subscribed to", async () => {
      const request = harness().request("ends-on-term");
      harness().runner.run(request, NEVER);
      await pause(100);
      expect(await harness().leftovers(request.instanceId)).toEqual([]);
    });

    test("the runner reports the exit code and the run's own account", async () => {
      expect(exitOf(await eventsOf(run("exit-7")))).toMatchObject({ exitCode: 7, rejected: null });
      expect(exitOf(await eventsOf(run("own-error")))).toMatchObject({
        exitCode: 1,
        error: "model is tired",
      });
    });

    test("the runner emits the last value of a run, and its request for a rerun", async () => {
      const exit = exitOf(await eventsOf(run("returns")));
      expect(exit).toMatchObject({ exitCode: 0, value: { text: "a b" }, rerun: true });
      expect(exitOf(await eventsOf(run("exit-7")))).not.toHaveProperty("value");
    });

    test("the runner reports why a run could not start, without an error of the stream", async () => {
      const events = await eventsOf(run("cannot-start"));
      const exit = exitOf(events);
      expect(exit.rejected).toMatch(/\S/);
      expect(exit.exitCode).toBeNull();
      expect(events).toHaveLength(1);
    });

    test("the runner asks a run to end, and the exit still follows", async () => {
      const { exit, tookMs } = await stopped("ends-on-term", "killed");
      expect(exit.rejected).toBeNull();
      expect(exit.exitCode === 143 || exit.signal === "SIGTERM").toBe(true);
      expect(tookMs).toBeLessThan(contractGraceMs + 2000);
    });

    test("the runner kills a run that ignores TERM after the grace period", async () => {
      const { exit, tookMs } = await stopped("ignores-term", "timed_out");
      expect(exit.exitCode).not.toBe(0);
      expect(tookMs).toBeGreaterThanOrEqual(contractGraceMs - 50);
      expect(tookMs).toBeLessThan(contractGraceMs + 3000);
    });

    test("the runner ends a run that is stopped while it starts", async () => {
      const request = harness().request("ends-on-term");
      const events = await eventsOf(harness().runner.run(request, of<StopReason>("killed")));
      expect(exitOf(events).rejected).toBeNull();
      expect(await harness().leftovers(request.instanceId)).toEqual([]);
    });

    test("the runner leaves nothing behind when its subscriber leaves", async () => {
      for (const scenario of ["ends-on-term", "ignores-term"] as const) {
        const request = harness().request(scenario);
        await firstValueFrom(harness().runner.run(request, NEVER));
        await until(async () => (await harness().leftovers(request.instanceId)).length === 0);
      }
    });

    test("the runner separates two concurrent runs", async () => {
      const requests = [harness().request("chatter"), harness().request("chatter")];
      const both = await Promise.all(
        requests.map((request) => eventsOf(harness().runner.run(request, NEVER))),
      );
      for (const [index, request] of requests.entries()) {
        const said = messagesOf(both[index] ?? []);
        expect(said).toEqual(Array.from({ length: 20 }, () => request.instanceId));
      }
    });

    test.each(["huge-line", "garbage"] as const)(
      "the runner survives output that is a %s",
      async (scenario) => {
        const events = await eventsOf(run(scenario));
        expect(messagesOf(events).at(-1)).toBe("after");
        expect(exitOf(events).exitCode).toBe(0);
        for (const message of messagesOf(events)) expect(message.length).toBeLessThan(33_000);
      },
    );
  });
}

export function messagesOf(events: readonly RunnerEvent[]): readonly string[] {
  return events.flatMap((event) => (event.type === "output" ? [event.entry.msg] : []));
}

/** The one exit of a run, which must be its last event. */
export function exitOf(events: readonly RunnerEvent[]): RunnerExit {
  expect(events.filter(({ type }) => type === "exit")).toHaveLength(1);
  const last = events.at(-1);
  if (last?.type !== "exit") throw new Error("the run did not end with its exit");
  return last.exit;
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

export async function until(holds: () => Promise<boolean>, timeoutMs = 5000): Promise<void> {
  const deadline = performance.now() + timeoutMs;
  while (!(await holds())) {
    if (performance.now() > deadline) throw new Error(`it did not come true in ${timeoutMs} ms`);
    await pause(20);
  }
}
