import { map } from "rxjs";
import type { Expectation } from "../../../streams/agent-config.ts";
import { runAgent } from "../../../streams/runs/run-agent.ts";
import type { RunnerExit } from "../../../streams/runs/runner.ts";
import { anAgent, anItem } from "../../helpers/agents.ts";
import { marbles } from "../../helpers/marbles.ts";
import { exitWith } from "../../helpers/stream-runner.ts";
import { portsOf } from "./run-ports.ts";

const schema = { file: "out.json", text: "{}" };
const nothing: Expectation = { returned: false, said: false, schema: null };

type Row = [expectation: Expectation | null, exit: Partial<RunnerExit>, end: string];

const value = { ...nothing, returned: true };
const text = { ...nothing, said: true };
const valid = { ...nothing, schema };

test.each<Row>([
  [value, { value: 0 }, "succeeded with code 0"],
  [text, { said: true }, "succeeded with code 0"],
  [valid, { value: null }, "succeeded with code 0"],
  [value, {}, "failed with code 1: nothing returned"],
  [valid, { said: true }, "failed with code 1: nothing returned"],
  [text, { value: 1, said: false }, "failed with code 1: said nothing"],
  [{ ...value, said: true }, {}, "failed with code 1: nothing returned"],
  [valid, { exitCode: 7, error: "model is tired" }, "failed with code 7: model is tired"],
])("a run with [expect] as %j and the exit %j ends as %s", (expected, exit, end) =>
  marbles((helpers) => {
    const report$ = helpers.cold("--(x|)", { x: exitWith(exit) });
    const agent = anAgent("dev", { expect: expected });
    const out$ = runAgent(agent, anItem("1"), portsOf(helpers, report$)).pipe(
      map((event) => {
        if (event.type !== "finished") return event.type;
        const { outcome, exitCode, reason } = event.end;
        return `${outcome} with code ${exitCode}${reason === null ? "" : `: ${reason}`}`;
      }),
    );
    helpers.expectObservable(out$).toBe("s-(E|)", { s: "started", E: end });
  }),
);
