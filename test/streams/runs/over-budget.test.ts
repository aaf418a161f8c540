import { of } from "rxjs";
import { expect, test } from "vitest";
import { createSlots } from "../../../streams/runs/slots.ts";
import { runAgent } from "../../../streams/runs/run-agent.ts";
import type { RunEvent } from "../../../streams/vocabulary.ts";
import { anAgent, anItem } from "../../helpers/agents.ts";
import { marbles } from "../../helpers/marbles.ts";
import { createRunOwner } from "../../helpers/run-owner.ts";
import { exitWith } from "../../helpers/stream-runner.ts";

test("a run that fails after a call was refused for its budget ends over_budget", () =>
  marbles(({ scheduler, cold, flush }) => {
    const owner = createRunOwner(() => scheduler.now());
    const report$ = cold("--(e|)", { e: exitWith({ exitCode: 1 }) });
    const events: RunEvent[] = [];
    const started$ = runAgent(anAgent("dev"), anItem("1"), {
      runner: { run: () => report$ },
      claim: () => of("claimed"),
      newInstanceId: (name) => `${name}-1`,
      kill$: cold("-"),
      scheduler,
      owner,
      starting: createSlots(),
      draining$: of(false),
      isStopping: () => false,
      checkValue: () => of(null),
    });
    started$.subscribe((event) => events.push(event));
    owner.refused.set("dev-1", "this run's budget is spent");
    flush();
    expect(events.at(-1)).toMatchObject({
      type: "finished",
      end: { outcome: "over_budget", exitCode: 125, reason: "this run's budget is spent" },
    });
  }));
