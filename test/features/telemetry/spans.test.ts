import { outcomes, type Outcome } from "../../../streams/outcomes.ts";
import { createSpans } from "../../../src/features/telemetry/spans.ts";
import type { Span } from "../../../src/features/telemetry/span.ts";
import { traceIdOf, traceparentOf } from "../../../src/features/telemetry/trace-ids.ts";
import type { MeteredCall } from "../../../src/foundation/contracts/spend.ts";
import { providers } from "../../../streams/agent-config.ts";
import type { LogEntry, RunEvent, Trigger, WorkItem } from "../../../streams/vocabulary.ts";
import registry from "../../fixtures/genai-attributes.json" with { type: "json" };
import { callItem } from "../../foundation/store/support.ts";
import { anItem } from "../../helpers/agents.ts";

const instanceId = "dev-aaaaaaaa";
const item = anItem("one");

const started: RunEvent = { type: "started", agent: "dev", at: 100, item, instanceId };
const finished = (outcome: Outcome, of: WorkItem = item): RunEvent => {
  const usage = { model: "claude", tokens: 12, costUsd: 0.5, turns: 2 };
  const end = { outcome, exitCode: 0, reason: "it broke", usage };
  return { type: "finished", agent: of.agent, at: 900, item: of, instanceId, startedAt: 100, end };
};
const output = (time: number, fields: Partial<LogEntry>): RunEvent => {
  const entry: LogEntry = { level: 30, time, agent: "dev", msg: "", ...fields };
  return { type: "output", agent: "dev", at: time, instanceId, entry };
};
const call: MeteredCall = {
  instanceId,
  agent: "dev",
  model: "claude",
  provider: "google",
  providerModel: "gemini-3",
  seq: 7,
  status: 200,
  usage: { input: 3, cacheRead: 20, cacheWrite: 100, cacheWrite1h: 10, output: 4 },
  usd: 0.25,
  endedAt: 500,
  totalMs: 300,
  firstByteMs: 150,
  isCut: false,
};
const tool = { kind: "tool", tool: "bash", call: "c1", input: { command: "ls" } };
const result = {
  kind: "tool-result",
  tool: "bash",
  call: "c1",
  output: "a b",
  isError: false,
  durationMs: 40,
};

function spansOf(events: readonly (RunEvent | MeteredCall)[], content = false): readonly Span[] {
  const spans = createSpans({ content });
  return events.flatMap((one) => ("type" in one ? spans.onEvent(one) : spans.onCall(one)));
}
const ended = (of: WorkItem): readonly Span[] => spansOf([finished("succeeded", of)]);
const day = [started, call, output(300, tool), output(340, result), finished("succeeded")];

test("the spans of a run are those of the trigger, the run, and each call of a model or tool, with these parents", () => {
  const [chat, bash, trigger, run] = spansOf(day);
  const traceId = run?.traceId;
  const ofRun = { parentId: run?.spanId, traceId };
  expect([trigger, run, chat, bash]).toMatchObject([
    { name: "manual dev", kind: "internal", startMs: 0, endMs: 900, parentId: null, traceId },
    { name: "invoke_agent dev", kind: "internal", startMs: 100, endMs: 900, traceId },
    { name: "chat gemini-3", kind: "client", startMs: 200, endMs: 500, ...ofRun },
    { name: "execute_tool bash", kind: "internal", startMs: 300, endMs: 340, ...ofRun },
  ]);
  expect(run?.parentId).toBe(trigger?.spanId);
  expect(traceparentOf({ item, instanceId })).toBe(`00-${run?.traceId}-${run?.spanId}-01`);
});

test("the spans of a run show usage, cost and outcome", () => {
  const [chat, , , run] = spansOf(day);
  expect(chat?.attributes).toMatchObject({
    "gen_ai.provider.name": "gcp.gemini",
    "gen_ai.usage.input_tokens": 123,
    "gen_ai.usage.cache_read.input_tokens": 20,
    "gen_ai.usage.cache_write.input_tokens": 100,
    "gen_ai.usage.output_tokens": 4,
    "gen_ai.response.time_to_first_chunk": 0.15,
    "al.cost.usd": 0.25,
  });
  expect(run?.attributes).toMatchObject({ "al.outcome": "succeeded", "al.cost.usd": 0.5 });
  expect(run?.error).toBeNull();
});

test("the spans of a run are the same if another scheduler adopted the running run", () => {
  const before = spansOf(day.slice(0, 3));
  const after = spansOf([{ ...started, startedAt: 100 }, ...day.slice(3)]);
  expect([...before, ...after]).toEqual(spansOf(day));
});

const texts = [
  output(200, { kind: "prompt", output: "secret plan" }),
  output(350, { msg: "the secret answer", kind: "said" }),
];

test("the spans of a run contain prompts and texts only if content is switched on", () => {
  const events = [...day.slice(0, 4), ...texts, ...day.slice(4)];
  expect(JSON.stringify(spansOf(events))).not.toMatch(/secret|ls|a b/);
  const [, bash, , run] = spansOf(events, true);
  expect(bash?.attributes).toMatchObject({
    "gen_ai.tool.call.arguments": '{"command":"ls"}',
    "gen_ai.tool.call.result": "a b",
  });
  const parts = [{ type: "text", content: "the secret answer" }];
  expect(JSON.parse(String(run?.attributes["gen_ai.output.messages"]))).toEqual([
    { role: "assistant", parts, finish_reason: "stop" },
  ]);
  expect(run?.attributes["gen_ai.input.messages"]).toContain("secret plan");
});

test("the spans of a run include a tool that was running when the run was killed, and a model call that ended after the kill", () => {
  const events = [started, output(300, tool), finished("timed_out"), call];
  const [bash, , run, chat] = spansOf(events);
  expect([bash?.endMs, bash?.error]).toEqual([900, "timed_out"]);
  expect(chat?.traceId).toBe(run?.traceId);
});

test("the spans of a run have its outcome as their error.type, unless a person or newer work ended it, or a tick comes again", () => {
  const typesOf = (outcome: Outcome) =>
    new Set(spansOf([finished(outcome)]).map(({ attributes }) => attributes["error.type"]));
  const failed = outcomes.filter((outcome) => typesOf(outcome).has(outcome));
  const good = outcomes.filter((outcome) => typesOf(outcome).has(undefined));
  expect(good).toEqual(["succeeded", "killed", "interrupted", "superseded", "skipped", "missed"]);
  expect(failed).toHaveLength(outcomes.length - good.length);
});

test.each([
  ["no_answer", { status: null }],
  ["429", { status: 429 }],
  ["cut", { isCut: true }],
])("the spans of a run have error.type %s for a call to a model that failed", (failure, change) => {
  expect(spansOf([started, { ...call, ...change }])[0]?.error).toBe(failure);
});

const event = { source: "hub", receiptId: "r1" } as Extract<Trigger, { kind: "webhook" }>["event"];
const sender = { traceId: "4bf92f3577b34da6a3ce929d0e0e4736", spanId: "00f067aa0ba902b7" };

test("the span of a trigger from a webhook is in a new trace, linked to the sender's span", () => {
  const webhook = anItem("two", "dev", { kind: "webhook", event, sender });
  const [trigger] = ended(webhook);
  expect(trigger).toMatchObject({ kind: "consumer", parentId: null, links: [sender] });
  expect(trigger?.traceId).not.toBe(sender.traceId);
});

test("the span of a trigger from a replay is linked to the repeated trigger", () => {
  const [first] = ended(item);
  const [trigger] = ended({ ...anItem("two"), replayOf: item.id });
  expect(trigger?.links).toEqual([{ traceId: first?.traceId, spanId: first?.spanId }]);
});

test("the span of a trigger from an agent call is a child of the calling run's span, in the trace of the first run", () => {
  const [, caller] = ended(item);
  const from = { caller: "dev", callerInstance: instanceId, root: item.id };
  const called = callItem("three", from, "ops");
  const [span] = ended(called);
  expect(span).toMatchObject({ name: "call ops", parentId: caller?.spanId });
  expect(traceIdOf(called)).toBe(caller?.traceId);
});

test.each([
  ["dropped", "queue_full", "dropped: queue_full"],
  ["rejected", "no such agent", "rejected: no such agent"],
  ["skipped", "all runners are busy", null],
  ["missed", "the scheduler was down", null],
] as const)(
  "the span of a trigger shows why it never became a run: %s",
  (outcome, reason, error) => {
    const refused = { type: "refused", agent: "dev", at: 50, item, outcome, reason } as const;
    const [span, ...others] = spansOf([refused]);
    expect(others).toEqual([]);
    const attributes = { "al.outcome": outcome, "al.reason": reason };
    expect(span).toMatchObject({ endMs: 50, error, attributes });
  },
);

test("names of span attributes, operations and providers are in OpenTelemetry's registry, or begin with al.", () => {
  const failed = { ...result, isError: true };
  const events = [...day.slice(0, 3), output(340, failed), ...texts, finished("failed"), call];
  const calls = providers.map((provider) => ({ ...call, provider }));
  const spans = spansOf([...events, ...calls], true);
  const names = new Set(spans.flatMap(({ attributes }) => Object.keys(attributes)));
  const unknown = [...names].filter((name) => !name.startsWith("al."));
  expect(unknown.filter((name) => !registry.attributes.includes(name))).toEqual([]);
  expect(names.size).toBeGreaterThan(20);
  const valuesOf = (name: string) =>
    new Set(spans.flatMap(({ attributes }) => attributes[name] ?? []));
  expect(registry.operations).toEqual(
    expect.arrayContaining([...valuesOf("gen_ai.operation.name")]),
  );
  const own = ["openrouter", "custom", "scripted"];
  expect([...registry.providers, ...own].sort()).toEqual(
    [...valuesOf("gen_ai.provider.name")].sort(),
  );
});
