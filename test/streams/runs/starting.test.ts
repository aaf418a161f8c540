import type { StopReason } from "../../../streams/outcomes.ts";
import { EMPTY, map, merge, NEVER, timer, type Observable } from "rxjs";
import { createSlots, type Slots } from "../../../streams/runs/slots.ts";
import { runAgent } from "../../../streams/runs/run-agent.ts";
import type { RunnerEvent } from "../../../streams/runs/runner.ts";
import { startInTurn } from "../../../streams/runs/starting.ts";
import type { RunEvent } from "../../../streams/vocabulary.ts";
import { anAgent, anItem } from "../../helpers/agents.ts";
import { inVirtualTime, marbles, type Marbles } from "../../helpers/marbles.ts";
import { exitWith, timedRunner } from "../../helpers/stream-runner.ts";
import { portsOf } from "./run-ports.ts";

const reports: Record<string, RunnerEvent> = {
  t: { type: "status-text", text: "busy" },
  r: { type: "ready" },
  x: exitWith(),
};

const letters = { "status-text": "t", ready: "r", output: "o", exit: "x" } as const;

/** `r` ready, `t` status text, `x` exit. */
function starting(
  { scheduler }: Marbles,
  run$: Observable<RunnerEvent>,
  slots: Slots,
  stop$: Observable<StopReason> = NEVER,
): Observable<string> {
  const onStart = (): void => undefined;
  return startInTurn(run$, { slots, stop$, scheduler, onStart }).pipe(
    map(({ type }) => letters[type]),
  );
}

describe("runs that start together", () => {
  test(
    "start in order, each once the previous one is ready, and then run concurrently",
    inVirtualTime((helpers) => {
      const slots = createSlots(1);
      const run$ = helpers.cold("--rt-----(x|)", reports);
      const all$ = merge(...[1, 2, 3].map(() => starting(helpers, run$, slots)));
      helpers.expectObservable(all$).toBe("--rtrtrt-x-x-(x|)");
    }),
  );

  test.each<[what: string, before: (helpers: Marbles, slots: Slots) => void, next: string]>([
    [
      "continue with the next if one is not ready after half a minute",
      (helpers, slots) => helpers.expectObservable(starting(helpers, NEVER, slots)).toBe("-"),
      "30s (x|)",
    ],
    [
      "let the next one start when they are unsubscribed",
      (helpers, slots) => {
        for (const end of ["--!", "-!"])
          helpers.expectObservable(starting(helpers, NEVER, slots), end).toBe("-");
      },
      "--(x|)",
    ],
  ])("%s", (_what, before, next) =>
    marbles((helpers) => {
      const slots = createSlots(1);
      before(helpers, slots);
      const next$ = starting(helpers, helpers.cold("(x|)", reports), slots);
      helpers.expectObservable(next$).toBe(next);
    }),
  );

  test(
    "do not start if they are stopped while they wait",
    inVirtualTime((helpers) => {
      const slots = createSlots(0);
      const stop$ = helpers.cold<StopReason>("--k", { k: "killed" });
      const run$ = helpers.cold("(x|)", reports);
      helpers.expectObservable(starting(helpers, run$, slots, stop$)).toBe("--(x|)");
      helpers.expectSubscriptions(run$.subscriptions).toBe([]);
    }),
  );
});

test(
  "a run that waits for its turn to start is emitted as started at once, and its timeout counts from its real start",
  inVirtualTime((helpers) => {
    const { scheduler } = helpers;
    const slots = createSlots(0);
    timer(5000, scheduler).subscribe(() => slots.resize(1));
    const ports = { runner: timedRunner(scheduler, 9000), starting: slots };
    const agent = anAgent("dev", { timeoutSeconds: 3 });
    const event$ = runAgent(agent, anItem("1"), portsOf(helpers, EMPTY, ports));
    const told = (event: RunEvent): string => {
      if (event.type !== "finished") return event.type;
      return `${event.end.outcome} at ${event.at}, from ${event.startedAt} on`;
    };
    const values = { s: "started", f: "timed_out at 8000, from 5000 on" };
    helpers.expectObservable(event$.pipe(map(told))).toBe("s 7999ms (f|)", values);
    expect(slots.tryTake()).toBeNull();
  }),
);
