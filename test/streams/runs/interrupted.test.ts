import { EMPTY, map, of } from "rxjs";
import type { Observable } from "rxjs";
import { describe, it } from "vitest";
import { createSlots } from "../../../streams/runs/slots.ts";
import { runAgent } from "../../../streams/runs/run-agent.ts";
import type { Kill, RunPorts } from "../../../streams/runs/run-agent.ts";
import type { RunnerEvent } from "../../../streams/runs/runner.ts";
import type { RunEvent } from "../../../streams/vocabulary.ts";
import { anAgent, anItem } from "../../helpers/agents.ts";
import { marbles } from "../../helpers/marbles.ts";
import type { Marbles } from "../../helpers/marbles.ts";
import { createRunOwner } from "../../helpers/run-owner.ts";
import { exitWith, timedRunner } from "../../helpers/stream-runner.ts";

const kills: Record<string, Kill> = { a: { agent: "dev" }, s: { everything: "interrupted" } };

function portsOf(
  { scheduler }: Marbles,
  report$: Observable<RunnerEvent>,
  more: Partial<RunPorts> = {},
): RunPorts {
  return {
    runner: { run: () => report$ },
    claim: () => of("claimed"),
    newInstanceId: (name) => `${name}-1`,
    kill$: EMPTY,
    scheduler,
    owner: createRunOwner(() => scheduler.now()),
    starting: createSlots(),
    draining$: of(false),
    isStopping: () => false,
    checkValue: () => of(null),
    ...more,
  };
}

/** `s` started; finished by the first letter of its outcome, in capitals. */
function letterOf(event: RunEvent): string {
  if (event.type === "finished") return event.end.outcome.charAt(0).toUpperCase();
  return event.type.charAt(0);
}

function run(ports: RunPorts): Observable<string> {
  return runAgent(anAgent("dev"), anItem("1"), ports).pipe(map(letterOf));
}

describe("a run", () => {
  it("is interrupted by the scheduler's stop, but not one that a person killed before", () =>
    marbles((helpers) => {
      const interrupted = (killed: string) => {
        const runner = timedRunner(helpers.scheduler, 6);
        return run(portsOf(helpers, EMPTY, { runner, kill$: helpers.hot<Kill>(killed, kills) }));
      };
      helpers.expectObservable(interrupted("--s---")).toBe("s-(I|)");
      helpers.expectObservable(interrupted("--(as)")).toBe("s-(K|)");
    }));

  it.each([
    [true, { exitCode: null, signal: "SIGTERM" }, "I"],
    [true, { exitCode: 143 }, "I"],
    [true, { exitCode: 3 }, "F"],
    [true, {}, "S"],
    [true, { exitCode: 137, outOfMemory: true }, "O"],
    [false, { exitCode: 143 }, "F"],
  ])("while the scheduler stops (%s) ends by itself with %j as %s", (stopping, exit, outcome) =>
    marbles((helpers) => {
      const report$ = helpers.cold("--(x|)", { x: exitWith(exit) });
      const ports = portsOf(helpers, report$, { isStopping: () => stopping });
      helpers.expectObservable(run(ports)).toBe(`s-(${outcome}|)`);
    }),
  );

  it("says why it was interrupted, and whether its work is tried again", () =>
    marbles((helpers) => {
      const runner = timedRunner(helpers.scheduler, 6);
      const reasonOf = (attempt: number): Observable<string> => {
        const ports = portsOf(helpers, EMPTY, { runner, kill$: helpers.hot("--s", kills) });
        return runAgent(anAgent("dev"), { ...anItem("1"), attempt }, ports).pipe(
          map((event) => (event.type === "finished" ? (event.end.reason ?? "") : event.type)),
        );
      };
      const why = "the scheduler was stopped before the run was done; its work is";
      const reasons = {
        s: "started",
        a: `${why} tried once more at the next start`,
        b: `${why} not tried again, as this was the second try`,
      };
      helpers.expectObservable(reasonOf(1)).toBe("s-(a|)", reasons);
      helpers.expectObservable(reasonOf(2)).toBe("s-(b|)", reasons);
    }));
});
