import type { LogEntry } from "../../../streams/vocabulary.ts";
import type { Question } from "../../../src/foundation/contracts/questions.ts";
import { traceOf, type TraceRecords } from "../../../src/runtime/runs/trace.ts";

type Line = Partial<LogEntry> & { readonly time: number; readonly msg: string };

const run = { agent: "dev", instanceId: "dev-aaaaaaaa" };
const linesOf = (entries: readonly Line[]): TraceRecords["lines"] =>
  entries.map((entry) => ({ id: `at ${entry.time}`, entry: { level: 30, ...run, ...entry } }));

const call = { totalMs: 300, status: 200, model: "sonnet", tokens: 1_000, usd: 0.5 };
const question = {
  prompt: "Deploy?\nNow",
  at: 200,
  answeredAt: 700,
  until: 900,
  state: "answered",
};
const asked = (given: object = {}) => ({ ...question, ...given }) as unknown as Question;

/** The trace of a run from 100 to 1,000 ms, a line for each step: when, its kind and name, what it took, its place. */
function stepsOf(entries: readonly Line[], more: Partial<TraceRecords> = {}): readonly string[] {
  const records = { ...run, at: 0, startedAt: 100, endedAt: 1_000, now: 2_000, isWhole: true };
  const trace = traceOf({ ...records, lines: linesOf(entries), calls: [], questions: [], ...more });
  return trace.steps.map(({ at, durationMs, kind, name, tokens, usd, failure, position }) => {
    const amounts = tokens === null && usd === null ? "" : ` ${tokens} $${usd}`;
    const end = durationMs === null ? "…" : Date.parse(at) + durationMs;
    const place = position === null ? "" : ` (${position})`;
    return `${Date.parse(at)}–${end} ${kind} ${name}${amounts}${failure === null ? "" : ` ! ${failure}`}${place}`;
  });
}

const tool = { kind: "tool", tool: "bash", call: "1" };

test.each<[string, Parameters<typeof stepsOf>, string[]]>([
  ["a queued run waits", [[], { startedAt: null, endedAt: null }], ["0–… queued queued"]],
  ["a run without a line has its start", [[]], ["100–1000 start start"]],
  [
    "a hook lasts from its first line to its last one, whatever it prints",
    [
      [
        { time: 150, kind: "hook", msg: "pre hook: make" },
        { time: 160, kind: "hook", stream: "stdout", msg: "making" },
        { time: 250, kind: "hook", level: 50, call: "h", exitCode: 7, msg: "pre hook exited" },
      ],
    ],
    ["100–150 start start (at 150)", "150–250 hook pre hook: make ! exit 7 (at 150)"],
  ],
  [
    "calls to models are turns if they were answered, else retries",
    [
      [{ time: 500, kind: "said", msg: "Done." }],
      {
        calls: [
          { ...call, at: 200, status: 529, totalMs: 50, tokens: null, usd: 0 },
          { ...call, at: 300, usd: null },
          { ...call, at: 700, totalMs: null },
        ],
      },
    ],
    [
      "100–200 start start (at 500)",
      "200–250 retry sonnet null $0 ! status 529 (at 500)",
      "300–600 model turn 1: sonnet 1000 $null (at 500)",
      "700–1000 model turn 2: sonnet 1000 $0.5 (at 500)",
    ],
  ],
  [
    "without counted calls, the log's usage makes turns, each from the model's last input",
    [
      [
        { time: 110, kind: "prompt", msg: "prompt" },
        { time: 300, kind: "usage", msg: "9 tokens", tokens: 9, costUsd: 0.1 },
        { ...tool, time: 310, msg: "bash: ls" },
        { ...tool, call: "2", time: 310, msg: "bash: false" },
        {
          time: 320,
          kind: "tool-result",
          call: "2",
          isError: true,
          output: "…\n\nCommand exited with code 1",
          msg: "",
        },
        { time: 350, kind: "tool-result", call: "1", isError: true, output: "no\nway", msg: "" },
        { time: 600, kind: "usage", msg: "9 tokens", tokens: 9 },
      ],
    ],
    [
      "100–110 start start (at 110)",
      "110–300 model turn 1 9 $0.1 (at 300)",
      "310–350 tool bash: ls ! no (at 310)",
      "310–320 tool bash: false ! exit 1 (at 310)",
      "350–600 model turn 2 9 $null (at 600)",
    ],
  ],
  [
    "a tool without a result is open while the run works",
    [[{ ...tool, time: 310, msg: "bash: sleep\n9" }], { endedAt: null }],
    ["100–310 start start (at 310)", "310–… tool bash: sleep (at 310)"],
  ],
  [
    "a question replaces the tool that asks it",
    [
      [
        { ...tool, time: 190, msg: "mcp__al__al_ask" },
        { time: 710, kind: "tool-result", call: "1", msg: "done" },
      ],
      { questions: [asked()] },
    ],
    ["100–200 start start (at 190)", "200–700 question Deploy? (at 710)"],
  ],
  [
    "a question without an answer is open",
    [[], { endedAt: null, questions: [asked({ answeredAt: null, state: "open" })] }],
    ["100–200 start start", "200–… question Deploy?"],
  ],
  [
    "a switch of models and a harness's warnings are retries, the run's end is none",
    [
      [
        { time: 200, kind: "fallback", level: 40, msg: "opus failed" },
        { time: 300, kind: "run", level: 40, msg: "no answer; asked to continue" },
        { time: 400, kind: "run", level: 40, outcome: "killed", msg: "run killed" },
      ],
    ],
    [
      "100–200 start start (at 200)",
      "200–200 retry opus failed (at 200)",
      "300–300 retry no answer; asked to continue (at 300)",
    ],
  ],
])("in the trace of a run, %s", (_name, records, steps) => {
  expect(stepsOf(...records)).toEqual(steps);
});

test("a trace has 300 steps at most, sums up those in the middle, and names the first error", () => {
  const calls = Array.from({ length: 700 }, (_, index) => ({ ...call, at: 200 + index }));
  const lines = linesOf([
    { time: 1, msg: "fine" },
    { time: 2, level: 50, msg: "wrong" },
    { time: 3, level: 50, msg: "wrong again" },
  ]);
  const records = { ...run, at: 0, startedAt: 100, endedAt: null, now: 2_000, isWhole: true };
  const trace = traceOf({ ...records, lines, calls, questions: [] });
  expect(trace).toMatchObject({
    at: "1970-01-01T00:00:00.100Z",
    until: "1970-01-01T00:00:02.000Z",
    isOver: false,
    leftOut: { after: 200, count: 401, tokens: 401_000, usd: 200.5 },
    firstError: "at 2",
  });
  expect(trace.steps).toHaveLength(300);
  expect(trace.steps.at(-1)?.name).toBe("turn 700: sonnet");
});
