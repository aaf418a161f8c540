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
  [null, {}, "succeeded 0 null"],
  [value, { value: 0 }, "succeeded 0 null"],
  [value, { value: "" }, "succeeded 0 null"],
  [text, { said: true }, "succeeded 0 null"],
  [valid, { value: null }, "succeeded 0 null"],
  [value, {}, "failed 1 nothing returned"],
  [value, { value: null, said: true }, "failed 1 nothing returned"],
  [valid, { said: true }, "failed 1 nothing returned"],
  [text, { value: 1, said: false }, "failed 1 said nothing"],
  [{ ...value, said: true }, {}, "failed 1 nothing returned"],
  [valid, { exitCode: 7, error: "model is tired" }, "failed 7 model is tired"],
])("a run with the expectation %j and the result %j ends: %s", (expected, exit, end) =>
  marbles((helpers) => {
    const report$ = helpers.cold("--(x|)", { x: exitWith(exit) });
    const agent = anAgent("dev", { expect: expected });
    const out$ = runAgent(agent, anItem("1"), portsOf(helpers, report$)).pipe(
      map((event) => {
        if (event.type !== "finished") return event.type;
        return `${event.end.outcome} ${event.end.exitCode} ${event.end.reason}`;
      }),
    );
    helpers.expectObservable(out$).toBe("s-(E|)", { s: "started", E: end });
  }),
);
