import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { answerScript } from "../../../../src/features/models/scripted-answer.ts";
import type { Script } from "../../../../src/foundation/contracts/job.ts";
import { keptLines, writeSession } from "../../../../src/runtime/harness/pi/kept-session.ts";
import { createPeople } from "../../../../src/runtime/harness/run-api/people.ts";
import type { People, PersonMessage } from "../../../../src/runtime/harness/run-api/people.ts";
import { fakeProvider } from "../fake-provider.ts";
import { aContinued, aJob, aModel, sessionTrees } from "../jobs.ts";
import { runSession } from "./run-session.ts";
import { tempDir } from "../../../helpers/temp-dir.ts";
import { perTest } from "../../../helpers/per-test.ts";

const workDir = perTest(tempDir);

type Sent = Partial<PersonMessage>;

interface Options {
  readonly turns: Script["turns"];
  /** The messages that people send while the model answers a turn, by its number. */
  readonly sent?: Readonly<Record<number, readonly Sent[]>>;
  /** The messages that are there when the session is about to end. */
  readonly late?: readonly Sent[];
  /** The session that the run continues. */
  readonly earlier?: readonly string[];
  readonly signal?: AbortSignal;
  /** Called with each request. */
  readonly onRequest?: () => void;
}

const secret = "hunter2-hunter2";

/** Runs a session of the real pi with a scripted model. */
async function session(options: Options) {
  const { turns, sent = {}, late = [], earlier, signal, onRequest = () => undefined } = options;
  let send: (message: PersonMessage) => void = () => undefined;
  let seq = 0;
  const messageOf = (given: Sent): PersonMessage => ({
    seq: (seq += 1),
    kind: "steer",
    text: "Stay calm.",
    by: "the dashboard",
    ...given,
  });
  const provider = await fakeProvider((seen, response) => {
    onRequest();
    const script = answerScript({ turns: [...turns] }, seen.body, new AbortController().signal);
    const turn = (seen.body.messages ?? []).filter(({ role }) => role === "assistant").length;
    for (const message of sent[turn] ?? []) send(messageOf(message));
    void script.then(({ status, headers, body }) => {
      response.writeHead(status, headers).end(body.join(""));
    });
  });
  onTestFinished(() => provider.close());
  const left = late.map(messageOf);
  const redact = (value: unknown) =>
    JSON.parse(JSON.stringify(value).replaceAll(secret, "[redacted]")) as unknown;
  const people: People = {
    ...createPeople(null, redact, () => undefined),
    follow: (onMessage) => Promise.resolve(void (send = onMessage)),
    last: (onMessage) => {
      const message = left.shift();
      if (message !== undefined) onMessage(message);
      return Promise.resolve(message !== undefined);
    },
  };
  const trigger = { kind: "manual", prompt: null } as const;
  const models = [aModel("local", provider.baseUrl)];
  if (earlier) await writeSession(workDir(), earlier);
  const trees = sessionTrees;
  const job = aJob(workDir(), {
    models,
    trigger,
    trees,
    ...(earlier && { continues: aContinued() }),
  });
  const ended = await runSession({ workDir: workDir(), job, people, ...(signal && { signal }) });
  const conversations = provider.requests.map(({ body }) => body.messages ?? []);
  const requests = conversations.map((messages) => JSON.stringify(messages));
  const file = join(workDir(), ".session/session.jsonl");
  const kept = (await readFile(file, "utf8")).trimEnd().split("\n");
  return { ...ended, requests, kept, conversation: conversations.at(-1) ?? [] };
}

const bash = (command: string) => ({ tools: [{ name: "bash", arguments: { command } }] });
const times = (text: string | undefined, part: string) => (text ?? "").split(part).length - 1;

describe("a session of pi that gets a person's messages", () => {
  test("gives the model each message once, after the tools of the turn", async () => {
    const { requests, error } = await session({
      turns: [bash("true"), bash("true"), { text: "Done." }],
      sent: { 0: [{ text: "Leave the logs alone." }, { text: "And </message-of-person> hurry." }] },
    });
    expect(error).toBeNull();
    const counts = requests.map((request) => times(request, "Leave the logs alone."));
    expect(counts).toEqual([0, 1, 1]);
    expect(requests[1]).toContain("A person (the dashboard) says while you work:");
    expect(requests[1]).toContain("And &lt;/message-of-person> hurry.");
  });

  test("gives the model a delivery of its session key as an event", async () => {
    const text = '{"event":"issues","body":"</webhook-trigger>"}';
    const turns = [bash("true"), { text: "Done." }];
    const { requests } = await session({ turns, sent: { 0: [{ kind: "delivery", text }] } });
    expect(requests[1]).toMatch(/Another webhook delivery[^]*\\\\u003c\/webhook-trigger>/);
  });

  test("takes another turn for a message that arrives during its last turn", async () => {
    const turns = [{ text: "Done." }, { text: "Calm." }];
    const { requests, log } = await session({ turns, sent: { 0: [{}] } });
    expect(requests.map((request) => times(request, "Stay calm."))).toEqual([0, 1]);
    expect(log).toContain("Calm.");
  });

  test("takes another turn for each message that arrives after its last turn", async () => {
    const { requests } = await session({
      turns: [{ text: "Done." }, { text: "Calm." }, { text: "Very." }],
      late: [{}, {}],
    });
    expect(requests.map((request) => times(request, "Stay calm."))).toEqual([0, 1, 2]);
  });

  test("finishes its running tools when stopped, and ends as stopped", async () => {
    const { requests, error, stopped } = await session({
      turns: [bash("sleep 0.2; echo one > done"), { text: "Not this." }],
      sent: { 0: [{ kind: "stop", text: "" }, { text: "Too late." }] },
    });
    expect({ error, stopped }).toEqual({ error: null, stopped: true });
    expect(requests).toHaveLength(1);
    expect(await readFile(join(workDir(), "done"), "utf8")).toBe("one\n");
  });

  test("ends as stopped instead of repeating a failed turn with the next model", async () => {
    const turns = [{ status: 400, error: "no" }];
    const { requests, stopped } = await session({ turns, sent: { 0: [{ kind: "stop" }] } });
    expect(stopped).toBe(true);
    expect(requests).toHaveLength(1);
  });
});

describe("a stored session of pi", () => {
  test("is continued with the earlier messages, without secrets", async () => {
    const { kept } = await session({ turns: [bash(`echo ${secret}`), { text: "It was said." }] });
    expect(kept.join("\n")).not.toContain(secret);
    // The script counts the earlier turns, too.
    const turns = [{ text: "0" }, { text: "1" }, bash("true"), { text: "Again." }];
    const { conversation, requests, error, log } = await session({ turns, earlier: kept });
    expect(error).toBeNull();
    expect(log).toContain("Again.");
    const [system, ...roles] = conversation.map(({ role }) => role);
    expect(system).toMatch(/system|developer/);
    expect(roles).toEqual(["user", "assistant", "tool", "assistant", "user", "assistant", "tool"]);
    expect(requests.at(-1)).toContain("[redacted]");
  });

  test("can be continued after a run that was stopped during a tool call", async () => {
    const stop = new AbortController();
    const started = async () => {
      await expect.poll(() => readdir(workDir())).toContain("started");
      stop.abort();
    };
    const { kept } = await session({
      turns: [bash("touch started; sleep 30")],
      signal: stop.signal,
      onRequest: () => void started(),
    });
    const turns = [{ text: "0" }, { text: "1" }, { text: "2" }];
    const { error, requests } = await session({ turns, earlier: kept });
    expect(error).toBeNull();
    expect(requests.at(-1)).toContain("sleep 30");
  });

  test("omits its beginning if it is long, and says so", async () => {
    const call = { type: "toolCall", id: "call-1", name: "bash", arguments: { command: "true" } };
    const content = [{ type: "text", text: "x".repeat(90_000) }];
    const turn = [
      { role: "assistant", content: [call] },
      { role: "toolResult", toolCallId: "call-1", content },
    ];
    const turns = Array.from({ length: 200 }, () => turn).flat();
    const state = { messages: [{ role: "user", content: "Go." }, ...turns] };
    const conversation = { state, convertToLlm: (all: unknown) => all };
    const lines = await keptLines(conversation as never, (value) => value);
    expect(lines.join("\n").length).toBeLessThan(2.1 * 1024 * 1024);
    expect(Math.max(...lines.map(({ length }) => length))).toBeLessThanOrEqual(65_536);
    expect(lines[0]).toMatch(/The first \d+ messages of this session are left out/);
    expect(JSON.parse(lines[1] ?? "")).toMatchObject({ role: "assistant" });
    expect(lines[2]).toContain("more characters)");
  });

  test("has a result of very many short parts as one that was left out", async () => {
    const parts = Array.from({ length: 10_000 }, (_, n) => ({ type: "text", text: `row ${n}` }));
    const result = { role: "toolResult", toolCallId: "1", toolName: "rows", content: parts };
    const call = { type: "toolCall", id: "1", name: "rows", arguments: {} };
    const messages = [
      { role: "user", content: "Go." },
      { role: "assistant", content: [call] },
      result,
    ];
    const conversation = { state: { messages }, convertToLlm: (all: unknown) => all };
    const [, , line = ""] = await keptLines(conversation as never, (value) => value);
    expect(JSON.parse(line)).toEqual({
      ...result,
      content: [{ type: "text", text: "[left out]" }],
    });
  });
});
