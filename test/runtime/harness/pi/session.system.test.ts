import { realTime } from "../../../../src/runtime/harness/run-clock.ts";
import { aContinued, aJob, aModel, sessionTrees } from "../jobs.ts";
import { logsOf } from "../run-entry.ts";
import type { Action } from "./answer-table.ts";
import { startFakeUpstream } from "./fake-upstream.ts";
import { runSession, type SessionOptions } from "./run-session.ts";
import { tempDir } from "../../../helpers/temp-dir.ts";
import { perFile } from "../../../helpers/per-test.ts";

const upstream = perFile(startFakeUpstream, (upstream) => upstream.close());

/** A session with a model that answers so. */
async function session(actions: readonly Action[], options: Partial<SessionOptions> = {}) {
  const route = upstream().route(actions);
  const models = [aModel("first", route.baseUrl)];
  return { ...(await runSession({ workDir: tempDir(), models, ...options })), ...route };
}

const counted = (tokens: number) => ({
  prompt_tokens: tokens - 1,
  completion_tokens: 1,
  total_tokens: tokens,
});
const text = (text: string, tokens = 10): Action => ({
  reply: { kind: "text", text },
  usage: counted(tokens),
});
const bash = (command: string, tokens = 10): Action => ({
  reply: { kind: "tool", command },
  usage: counted(tokens),
});
const cut = (text: string): Action => ({ reply: { kind: "ending", ending: "cut", text } });
const rejected = (status: number, message: string): Action => ({
  status,
  headers: { "content-type": "application/json" },
  body: JSON.stringify({ error: { message } }),
});

describe("a session of pi", () => {
  test("asks for the rest of a cut answer in the same conversation, and logs it", async () => {
    const { requests, log, usage } = await session([cut("One, two,"), text(" three.", 20)]);
    expect(requests[1]).toMatch(/One, two,.*Continue exactly where it stopped/);
    expect(log).toContain("asked to continue (1 of 3)");
    expect(log).toContain("One, two,\n");
    expect(usage).toMatchObject({ turns: 2, tokens: 32 });
  });

  test("omits an empty answer from the conversation", async () => {
    const { requests } = await session([bash("echo hello"), text(""), text("All done.")]);
    const { messages } = JSON.parse(requests[2] ?? "") as { messages: { role: string }[] };
    expect(messages.map(({ role }) => role).slice(-3)).toEqual(["assistant", "tool", "user"]);
  });

  test("logs the output of a command while it runs, and the whole output at its end", async () => {
    const ended = await session([bash("echo first; sleep 2; echo second"), text("Done.")]);
    const [live] = logsOf(ended, "tool-output");
    expect(live?.fields).toMatchObject({ tool: "bash", output: "first\n" });
    const [result] = logsOf(ended, "tool-result");
    expect(result?.fields).toMatchObject({ call: live?.fields?.call, output: "first\nsecond\n" });
  });

  test("logs a retry, and ends at once when it is stopped while it waits for one", async () => {
    const stop = new AbortController();
    const wait = (_ms: number, signal: AbortSignal) => {
      stop.abort();
      return realTime.wait(600_000, signal);
    };
    const { error, log, requests } = await session([rejected(503, "overloaded")], {
      signal: stop.signal,
      time: { wait },
    });
    expect(error).toBe("it was stopped before it finished");
    expect(log).toContain('model "first": 503 overloaded; retry 1 of 3 in 1 s');
    expect(requests).toHaveLength(1);
  });

  test("switches from a silent model to its fallback before the run's time is used up", async () => {
    const silent = aModel("silent", upstream().route(["say nothing"]).baseUrl);
    const backup = aModel("backup", upstream().route([text("From the backup.")]).baseUrl);
    const { error, log } = await session([], { models: [silent, backup], timeoutSeconds: 3 });
    expect(error).toBeNull();
    expect(log).toContain('model "silent" failed (no data arrived for 1 s)');
  });
});

describe("a session of pi that grows too long", () => {
  const prompt = "A long story. ".repeat(12_000);
  const shout = "head -c 45000 /dev/zero | tr '\\0' x";
  const grown = [bash(shout, 100), bash(shout, 127_000)];

  test("counts the tokens of its summary", async () => {
    const summary = text("A summary.", 1_000);
    const ended = await session([...grown, summary, text("Done.", 200)], { prompt });
    expect(ended).toMatchObject({ error: null, usage: { tokens: 128_300, turns: 3 } });
    expect(ended.log).toContain("conversation shortened (threshold)");
    expect(ended.requests).toHaveLength(4);
  });

  test("is summarized before the first turn of the run that continues it, above the size of its session key", async () => {
    const workDir = tempDir();
    const jobFor = (actions: readonly Action[], more: object = {}) => {
      const { baseUrl, requests } = upstream().route(actions);
      const models = [aModel("first", baseUrl)];
      return { requests, job: aJob(workDir, { models, trees: sessionTrees, ...more }) };
    };
    const first = jobFor([bash(shout, 100), text("Done.", 30_000)]);
    await runSession({ workDir, job: first.job, prompt });
    const more = { continues: aContinued(), sessionTokens: 20_000 };
    const { job, requests } = jobFor([text("A summary."), text("Again.", 200)], more);
    const { error, log } = await runSession({ workDir, job });
    expect(error).toBeNull();
    expect(log).toContain("conversation shortened (threshold)");
    expect(requests).toHaveLength(2);
    expect(requests[1]).toContain("A summary.");
  });

  test.each([
    "litellm.ContextWindowExceededError: litellm.BadRequestError: TritonException - 9001 of 8000.",
    "litellm.ContextWindowExceededError: Context Window exceeded for given call.",
    "Input length 9001 exceeds the maximum allowed input length of 8000 tokens.",
  ])("is summarized if its provider rejects it: %s", async (message) => {
    const actions = [bash(shout), bash(shout), rejected(400, message), text("A summary.")];
    const ended = await session([...actions, text("Done.")], { prompt });
    expect(ended.error).toBeNull();
    expect(ended.log).toContain("conversation shortened (overflow)");
  });

  test("is summarized without thoughts after a summary that was cut", async () => {
    const actions = [
      bash(shout),
      bash(shout),
      rejected(413, "too large"),
      cut(""),
      text("So far."),
    ];
    const route = upstream().route([...actions, text("Done.")]);
    const claude = {
      provider: "anthropic",
      model: "claude-opus-4-5",
      thinkingLevel: "high",
    } as const;
    const models = [aModel("first", route.baseUrl, claude)];
    expect(await session([], { prompt, models })).toMatchObject({ error: null });
    const thoughts = route.requests.map((body) => body.includes('"thinking":{"type":"enabled"'));
    expect(thoughts).toEqual([true, true, true, true, false, true]);
  });

  test("continues if its summary fails, and reports that", async () => {
    const failing = rejected(400, "no summaries today");
    const ended = await session([...grown, failing, text("Done.", 200)], { prompt });
    expect(ended.log).toMatch(/the conversation was not shortened: .*no summaries today/);
    expect(ended.error).toBeNull();
  });
});
