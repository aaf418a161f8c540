import { EMPTY, map, of } from "rxjs";
import { describe, expect, it } from "vitest";
import type { Expectation } from "../../../streams/agent-config.ts";
import { runAgent } from "../../../streams/runs/run-agent.ts";
import type { RunPorts } from "../../../streams/runs/run-agent.ts";
import type { RunnerExit } from "../../../streams/runs/runner.ts";
import { createSlots } from "../../../streams/runs/slots.ts";
import type { RunEvent } from "../../../streams/vocabulary.ts";
import { anAgent, anItem } from "../../helpers/agents.ts";
import { marbles } from "../../helpers/marbles.ts";
import type { Marbles } from "../../helpers/marbles.ts";
import { createRunOwner } from "../../helpers/run-owner.ts";
import { exitWith } from "../../helpers/stream-runner.ts";

const schema = { file: "out.json", text: "{}" };
const nothing: Expectation = { returned: false, said: false, schema: null };

interface Tried {
  readonly expect: Expectation | null;
  readonly exit: Partial<RunnerExit>;
  /** Marbles of the check: `r` refuses, `m` is met. */
  readonly check?: string;
  readonly checked?: unknown[];
}

/** `s` started, `S` succeeded, `F` failed, `K` killed, with the reason behind each. */
function run(
  helpers: Marbles,
  { expect: expected, exit, check = "(m|)", checked = [] }: Tried,
  more: Partial<RunPorts> = {},
) {
  const { scheduler, cold } = helpers;
  const ports: RunPorts = {
    runner: { run: () => cold("--(x|)", { x: exitWith(exit) }) },
    claim: () => of("claimed"),
    newInstanceId: (name) => `${name}-1`,
    kill$: EMPTY,
    scheduler,
    owner: createRunOwner(() => scheduler.now()),
    starting: createSlots(),
    draining$: of(false),
    isStopping: () => false,
    checkValue: (by, value) => {
      checked.push([by, value]);
      return cold(check, { r: "/id must be string", m: null });
    },
    ...more,
  };
  return runAgent(anAgent("dev", { expect: expected }), anItem("1"), ports).pipe(map(letterOf));
}

function letterOf(event: RunEvent): string {
  if (event.type !== "finished") return event.type.charAt(0);
  const { outcome, reason, exitCode } = event.end;
  return `${outcome.charAt(0).toUpperCase()}${exitCode} ${reason}`;
}

const succeeded = { s: "s", E: "S0 null" };
const failed = (reason: string) => ({ s: "s", E: `F1 ${reason}` });

describe("a run that succeeded", () => {
  it.each([
    [null, {}],
    [nothing, {}],
    [{ ...nothing, returned: true }, { value: 0 }],
    [{ ...nothing, returned: true }, { value: "" }],
    [{ ...nothing, said: true }, { said: true }],
    [{ ...nothing, schema }, { value: null }],
  ])("has succeeded when it left what its agent expects: %j, %j", (expected, exit) =>
    marbles((helpers) => {
      const out$ = run(helpers, { expect: expected, exit });
      helpers.expectObservable(out$).toBe("s-(E|)", succeeded);
    }),
  );

  it.each([
    [{ ...nothing, returned: true }, {}, "nothing returned"],
    [{ ...nothing, returned: true }, { value: null, said: true }, "nothing returned"],
    [{ ...nothing, schema }, { said: true }, "nothing returned"],
    [{ ...nothing, said: true }, { value: 1 }, "said nothing"],
    [{ ...nothing, said: true }, { value: 1, said: false }, "said nothing"],
    [{ ...nothing, returned: true, said: true }, {}, "nothing returned"],
  ])("has failed without it: %j, %j", (expected, exit, reason) =>
    marbles((helpers) => {
      const checked: unknown[] = [];
      const out$ = run(helpers, { expect: expected, exit, checked });
      helpers.expectObservable(out$).toBe("s-(E|)", failed(reason));
      helpers.flush();
      expect(checked).toEqual([]);
    }),
  );

  it("has failed when its schema refuses the value, once that is checked", () =>
    marbles((helpers) => {
      const checked: unknown[] = [];
      const tried = { expect: { ...nothing, schema }, exit: { value: { id: 1 } }, checked };
      // The run exits at 2.
      const check = "   ---(r|)";
      const expected = "s----(E|)";
      const out$ = run(helpers, { ...tried, check: check.trim() });
      helpers.expectObservable(out$).toBe(expected, failed("/id must be string"));
      helpers.flush();
      expect(checked).toEqual([[schema, { id: 1 }]]);
    }));

  it("is no more killed while its value is checked", () =>
    marbles((helpers) => {
      const kill$ = helpers.cold("---k", { k: { agent: "dev" } });
      const tried = { expect: { ...nothing, schema }, exit: { value: 1 }, check: "---(m|)" };
      helpers.expectObservable(run(helpers, tried, { kill$ })).toBe("s----(E|)", succeeded);
    }));
});

it("a run that failed by itself keeps its reason and its code", () =>
  marbles((helpers) => {
    const expected = { ...nothing, returned: true, schema };
    const out$ = run(helpers, { expect: expected, exit: { exitCode: 7, error: "model is tired" } });
    helpers.expectObservable(out$).toBe("s-(E|)", { s: "s", E: "F7 model is tired" });
  }));
