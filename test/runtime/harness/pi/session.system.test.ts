import type { ServerResponse } from "node:http";
import { createRunClock, realTime } from "../../../../src/runtime/harness/run-clock.ts";
import { fakeProvider, type FakeProvider } from "../fake-provider.ts";
import { aModel } from "../jobs.ts";
import { runSession } from "./run-session.ts";
import { tempDir } from "../../../helpers/temp-dir.ts";

interface Said {
  readonly text?: string;
  readonly command?: string;
  readonly finish?: string;
  readonly tokens?: number;
}

/** One streamed chat completion. */
function say(response: ServerResponse, { text = "", command, finish, tokens = 10 }: Said): void {
  const args = JSON.stringify({ command });
  const call = {
    index: 0,
    id: "call_1",
    type: "function",
    function: { name: "bash", arguments: args },
  };
  const delta = { role: "assistant", content: text };
  const whole = command === undefined ? delta : { ...delta, tool_calls: [call] };
  const reason = finish ?? (command === undefined ? "stop" : "tool_calls");
  const usage = { prompt_tokens: tokens - 1, completion_tokens: 1, total_tokens: tokens };
  const chunk = {
    id: "x",
    object: "chat.completion.chunk",
    choices: [{ index: 0, delta: whole, finish_reason: reason }],
    usage,
  };
  response.writeHead(200, { "content-type": "text/event-stream" });
  response.end(`data: ${JSON.stringify(chunk)}\n\ndata: [DONE]\n\n`);
}

let workDir: string;
const open: FakeProvider[] = [];
beforeEach(() => void (workDir = tempDir()));
afterEach(() => Promise.all(open.splice(0).map((provider) => provider.close())));

/** A model that answers with these, one after the other, then with the last. */
async function model(name: string, answers: readonly ((response: ServerResponse) => void)[]) {
  const provider = await fakeProvider((_request, response) => {
    answers[Math.min(provider.requests.length, answers.length) - 1]?.(response);
  });
  open.push(provider);
  const bodies = () => provider.requests.map(({ body }) => JSON.stringify(body));
  return { provider, bodies, model: aModel(name, provider.baseUrl) };
}

const saying = (said: Said) => (response: ServerResponse) => say(response, said);
const answering = (status: number, message: string) => (response: ServerResponse) => {
  response.writeHead(status, { "content-type": "application/json" });
  response.end(JSON.stringify({ error: { message } }));
};

test("a session of pi asks for the rest of a cut answer in the same conversation, and logs it", async () => {
  const first = await model("first", [
    saying({ text: "One, two,", finish: "length" }),
    saying({ text: " three." }),
  ]);
  const { error, log, usage } = await runSession({ workDir, models: [first.model] });
  expect(error).toBeNull();
  expect(first.bodies()[1]).toMatch(/One, two,.*Continue exactly where it stopped/);
  expect(log).toContain("asked to continue (1 of 3)");
  expect(log).toContain("One, two,\n");
  expect(usage).toMatchObject({ turns: 2, tokens: 20 });
});

test("a session of pi leaves an empty answer out of the conversation", async () => {
  const first = await model("first", [
    saying({ command: "echo hello" }),
    saying({}),
    saying({ text: "All done." }),
  ]);
  const { error } = await runSession({ workDir, models: [first.model] });
  expect(error).toBeNull();
  const last = first.provider.requests[2]?.body.messages ?? [];
  expect(last.map(({ role }) => role).slice(-3)).toEqual(["assistant", "tool", "user"]);
});

test("a session of pi logs the output of a command while it runs, and all of it at its end", async () => {
  const command = "echo first; sleep 1.4; echo second; sleep 0.3";
  const { model: shell } = await model("shell", [saying({ command }), saying({ text: "Done." })]);
  const { messages } = await runSession({ workDir, models: [shell] });
  const lines = messages.flatMap((message) => (message.type === "log" ? [message] : []));
  const of = (kind: string) => lines.filter((line) => line.kind === kind);
  const [live] = of("tool-output");
  expect(live?.fields).toMatchObject({ tool: "bash", call: "call_1", output: "first\n" });
  expect(live?.fields?.durationMs).toBeLessThan(1_400);
  expect(of("tool-result")[0]?.fields).toMatchObject({ call: "call_1", output: "first\nsecond\n" });
});

test("a session of pi does not run tool calls that are cut, and drops a model that is cut again and again", async () => {
  const first = await model("first", [saying({ command: "touch ran", finish: "length" })]);
  const { error, messages } = await runSession({ workDir, models: [first.model] });
  expect(error).toBe('model "first": the answer was cut at its output limit 4 times in a row');
  expect(first.provider.requests).toHaveLength(4);
  const results = messages.filter(
    (message) => message.type === "log" && message.kind === "tool-result",
  );
  expect(results).toHaveLength(3);
  expect(JSON.stringify(results)).toContain("not executed");
});

test("a session of pi retries on a later turn, logs each retry and counts the tokens of all answers", async () => {
  const first = await model("first", [
    saying({ command: "true" }),
    answering(503, "overloaded"),
    answering(429, "try again in 4s"),
    saying({ text: "Done." }),
  ]);
  const { error, log, waits, usage } = await runSession({ workDir, models: [first.model] });
  expect(error).toBeNull();
  expect(waits).toEqual([1, 4]);
  expect(log).toContain('model "first": 503 overloaded; retry 1 of 3 in 1 s');
  expect(log).toContain('model "first": 429 try again in 4s; retry 2 of 3 in 4 s');
  expect(usage).toMatchObject({ turns: 2, tokens: 20 });
});

test("a session of pi ends while it waits for a retry when it is stopped", async () => {
  const first = await model("first", [answering(503, "overloaded")]);
  const stop = new AbortController();
  const before = performance.now();
  const { error } = await runSession({
    workDir,
    models: [first.model],
    signal: stop.signal,
    time: {
      wait: (_ms, signal) => {
        stop.abort();
        return realTime.wait(600_000, signal);
      },
    },
  });
  expect(error).toBe("it was stopped before it was done");
  expect(performance.now() - before).toBeLessThan(10_000);
  expect(first.provider.requests).toHaveLength(1);
});

test("a session of pi drops a silent model in time for its fallback to do the work within the run's timeout", async () => {
  const silent = await model("silent", [() => undefined]);
  const backup = await model("backup", [saying({ text: "From the backup." })]);
  const clock = createRunClock(12);
  const { error, log } = await runSession({ workDir, models: [silent.model, backup.model], clock });
  expect(error).toBeNull();
  expect(log).toMatch(/model "silent" failed \(nothing came for \d(\.\d)? s\)/);
  expect(clock.remainingMs()).toBeGreaterThan(0);
});

const prompt = "A long story. ".repeat(12_000);
const shout = "head -c 45000 /dev/zero | tr '\\0' x";

test("a session of pi that grows too long counts the tokens of the summary", async () => {
  const first = await model("first", [
    saying({ command: shout, tokens: 100 }),
    saying({ command: shout, tokens: 127_000 }),
    saying({ text: "A summary.", tokens: 1_000 }),
    saying({ text: "Done.", tokens: 200 }),
  ]);
  const ended = await runSession({ workDir, models: [first.model], prompt });
  expect(ended.error).toBeNull();
  expect(ended.log).toContain("conversation shortened (threshold)");
  expect(first.provider.requests).toHaveLength(4);
  expect(ended.usage.tokens).toBe(128_300);
  expect(ended.usage.turns).toBe(3);
});

test("a session of pi that grows too long reports a summary that failed", async () => {
  const first = await model("first", [
    saying({ command: shout, tokens: 100 }),
    saying({ command: shout, tokens: 127_000 }),
    answering(400, "no summaries today"),
    saying({ text: "Done.", tokens: 200 }),
  ]);
  const ended = await runSession({ workDir, models: [first.model], prompt });
  expect(ended.log).toMatch(/the conversation was not shortened: .*no summaries today/);
  expect(ended.error).toBeNull();
});
