import type { StopReason } from "../../../streams/outcomes.ts";
import {
  firstValueFrom,
  lastValueFrom,
  NEVER,
  of,
  Subject,
  tap,
  toArray,
  type Observable,
} from "rxjs";
import type { Runner, RunnerEvent, RunnerExit } from "../../../streams/runs/runner.ts";
import type { LogEntry, RunRequest } from "../../../streams/vocabulary.ts";
import { pause } from "../../helpers/pause.ts";
import { perTest } from "../../helpers/per-test.ts";
import { contractGraceMs, type Scenario } from "./shell-runs.ts";
import { like } from "../../helpers/like.ts";

export interface RunnerHarness {
  readonly runner: Runner;
  request(scenario: Scenario): RunRequest;
  /** The remains of a run: processes, folders. Empty when all are gone. */
  leftovers(instanceId: string): Promise<readonly string[]>;
  dispose?(): Promise<void>;
}

/** The promises of streams/runs/runner.ts for every runtime. */
export function runnerContract(
  name: string,
  makeHarness: () => RunnerHarness | Promise<RunnerHarness>,
): void {
  describe(`${name} keeps the runner contract`, () => {
    const harness = perTest(makeHarness, (harness) => harness.dispose?.());
    const request = (scenario: Scenario) => harness().request(scenario);
    const run = (asked: RunRequest, stop$: Observable<StopReason> = NEVER) =>
      harness().runner.run(asked, stop$);
    const leftovers = ({ instanceId }: RunRequest) => harness().leftovers(instanceId);

    test("the runner emits the output in order, then one exit, then completes", async () => {
      const asked = request("three-lines");
      const events = await collected(run(asked));
      expect(messagesOf(events)).toEqual(["one", "two", "three"]);
      expect(events).toContainEqual({ type: "status-text", text: "working" });
      expect(exitOf(events)).toMatchObject({ exitCode: 0, error: null, usage: { tokens: 7 } });
      const { instanceId, agent } = asked;
      const named = entriesOf(events).filter(
        (entry) => entry.agent === agent.name && entry.instanceId === instanceId,
      );
      expect(named).toHaveLength(3);
    });

    test.each<[Scenario, readonly string[], Partial<RunnerExit>]>([
      ["exit-7", [], { exitCode: 7, rejected: null }],
      ["own-error", [], { exitCode: 1, error: "model is tired" }],
      ["no-account", [], { exitCode: 0, error: "the run ended without a report" }],
      ["returns", [], { exitCode: 0, value: { text: "a b" }, rerun: true }],
      ["closed-output", [], { exitCode: 3, error: null }],
      ["leaves-process", ["bye"], { exitCode: 0, error: null }],
    ])(
      "the runner reports how a run ended, and leaves no process or file: %s",
      async (scenario, messages, exit) => {
        const asked = request(scenario);
        const events = await collected(run(asked));
        expect(messagesOf(events)).toEqual(messages);
        expect(exitOf(events)).toMatchObject(exit);
        expect(Object.hasOwn(exitOf(events), "value")).toBe(scenario === "returns");
        expect(await leftovers(asked)).toEqual([]);
      },
    );

    test.each<[Scenario, RegExp]>([
      ["cannot-start", /\S/],
      ["cannot-prepare", /^credential github_token is missing$/],
    ])("the runner reports why a run did not start: %s", async (scenario, reason) => {
      const asked = request(scenario);
      const exit = { exitCode: null, rejected: like(reason) };
      expect(await collected(run(asked))).toMatchObject([{ type: "exit", exit }]);
      await expect.poll(() => leftovers(asked)).toEqual([]);
    });

    test("the runner starts nothing before it is subscribed to", async () => {
      const asked = request("ends-on-term");
      run(asked);
      await pause(100, "nothing must start");
      expect(await leftovers(asked)).toEqual([]);
    });

    test.each<[Scenario, StopReason, RegExp, number]>([
      ["ends-on-term", "killed", /^(143|SIGTERM)$/, 0],
      ["ignores-term", "timed_out", /^(137|SIG\w+)$/, contractGraceMs - 50],
    ])(
      "the runner ends a run with all its processes after the grace period: %s",
      async (scenario, reason, ending, leastMs) => {
        const asked = request(scenario);
        const stop$ = new Subject<StopReason>();
        let since = 0;
        const stop = whenReady(() => {
          since = performance.now();
          stop$.next(reason);
        });
        const exit = exitOf(await collected(run(asked, stop$).pipe(stop)));
        const tookMs = performance.now() - since;
        expect(exit).toMatchObject({ rejected: null, outOfMemory: false });
        expect(String(exit.exitCode ?? exit.signal)).toMatch(ending);
        expect(tookMs).toBeGreaterThanOrEqual(leastMs);
        expect(await leftovers(asked)).toEqual([]);
      },
    );

    test("the runner ends a run that is stopped while it starts", async () => {
      const asked = request("ends-on-term");
      expect(exitOf(await collected(run(asked, of("killed")))).rejected).toBeNull();
      // A supervisor that sudo started ends by itself.
      await expect.poll(() => leftovers(asked)).toEqual([]);
    });

    test.each(["ends-on-term", "ignores-term"] as const)(
      "the runner leaves nothing behind when its subscriber leaves: %s",
      async (scenario) => {
        const asked = request(scenario);
        await firstValueFrom(run(asked));
        await expect.poll(() => leftovers(asked)).toEqual([]);
      },
    );

    test("the runner separates two concurrent runs", async () => {
      const requests = [request("chatter"), request("chatter")];
      const both = await Promise.all(requests.map((asked) => collected(run(asked))));
      expect(both.map(messagesOf)).toEqual(
        requests.map(({ instanceId }) => Array<string>(20).fill(instanceId)),
      );
    });

    test("the runner passes a job of 3 MB to the run", async () => {
      const [length] = messagesOf(await collected(run(request("large-job"))));
      expect(Number(length)).toBeGreaterThan(3_000_000);
    });

    test.each(["huge-line", "garbage"] as const)(
      "the runner survives the output %s",
      async (scenario) => {
        const events = await collected(run(request(scenario)));
        expect(messagesOf(events).at(-1)).toBe("after");
        expect(exitOf(events).exitCode).toBe(0);
        for (const message of messagesOf(events)) expect(message.length).toBeLessThan(33_000);
      },
    );
  });
}

/** All events of a run. */
export const collected = (run$: Observable<RunnerEvent>) => lastValueFrom(run$.pipe(toArray()));

/** Acts as soon as a run has logged `ready`. */
export const whenReady = (act: () => unknown) =>
  tap((event: RunnerEvent) => void (messagesOf([event]).includes("ready") && act()));

export const entriesOf = (events: readonly RunnerEvent[]): readonly LogEntry[] =>
  events.flatMap((event) => (event.type === "output" ? [event.entry] : []));

export const messagesOf = (events: readonly RunnerEvent[]): readonly string[] =>
  entriesOf(events).map(({ msg }) => msg);

/** The one exit of a run, which must be its last event. */
export function exitOf(events: readonly RunnerEvent[]): RunnerExit {
  expect(events.filter(({ type }) => type === "exit")).toHaveLength(1);
  const last = events.at(-1);
  if (last?.type !== "exit") throw new Error("the run did not end with its exit");
  return last.exit;
}
