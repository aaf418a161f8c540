import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { answerScript } from "../../../../src/features/models/scripted-answer.ts";
import type { Script } from "../../../../src/foundation/contracts/job.ts";
import { keptLines } from "../../../../src/runtime/harness/pi/kept-session.ts";
import { createPeople } from "../../../../src/runtime/harness/run-api/people.ts";
import type { PersonMessage } from "../../../../src/runtime/harness/run-api/people.ts";
import { fakeProvider } from "../fake-provider.ts";
import { aJob, aModel } from "../jobs.ts";
import { runSession } from "./run-session.ts";
import { tempDir } from "../../../helpers/temp-dir.ts";
import { perTest } from "../../../helpers/per-test.ts";

const workDir = perTest(tempDir);

interface Options {
  readonly turns: Script["turns"];
  /** The messages that people send while the model answers a turn, by its number. */
  readonly sent?: Readonly<Record<number, readonly Partial<PersonMessage>[]>>;
  /** The messages that are there when the session is about to end. */
  readonly late?: PersonMessage[];
  /** The session that the run continues. */
  readonly earlier?: readonly string[];
  readonly signal?: AbortSignal;
}

const secret = "hunter2-hunter2";

/** Runs a session of the real pi with a scripted model. */
async function session({ turns, sent = {}, late = [], earlier, signal }: Options) {
  let send: (message: PersonMessage) => void = () => undefined;
  let count = 0;
  const provider = await fakeProvider((seen, response) => {
    const script = answerScript({ turns: [...turns] }, seen.body, new AbortController().signal);
    const number = (seen.body.messages ?? []).filter(({ role }) => role === "assistant").length;
    for (const message of sent[number] ?? []) {
      send({
        seq: (count += 1),
        kind: "steer",
        text: "Stay calm.",
        by: "the dashboard",
        ...message,
      });
    }
    void script.then(({ status, headers, body }) => {
      response.writeHead(status, headers).end(body.join(""));
    });
  });
  onTestFinished(() => provider.close());
  let kept: readonly string[] = [];
  const redact = (value: unknown) =>
    JSON.parse(JSON.stringify(value).replaceAll(secret, "[redacted]")) as unknown;
  const people = {
    ...createPeople(null, redact, () => undefined),
    follow: (onMessage: typeof send) => Promise.resolve(void (send = onMessage)),
    last: (onMessage: typeof send) => {
      const [message] = late.splice(0, 1);
      if (message !== undefined) onMessage(message);
      return Promise.resolve(message !== undefined);
    },
    session: () => Promise.resolve(earlier ?? []),
    keep: (lines: readonly string[]) => Promise.resolve(void (kept = lines)),
  };
  const continues = { instanceId: "dev-earlier1", endedAt: Date.now() - 3 * 3_600_000 };
  const trigger = { kind: "manual", prompt: null, ...(earlier && { continues }) } as const;
  const models = [aModel("local", provider.baseUrl)];
  const job = aJob(workDir(), { models, trigger });
  const ended = await runSession({ workDir: workDir(), job, people, ...(signal && { signal }) });
  const requests = provider.requests.map(({ body }) => JSON.stringify(body.messages));
  return {
    ...ended,
    requests,
    kept,
    messages: provider.requests.at(-1)?.body.messages ?? [],
    ended,
  };
}

const bash = (command: string) => ({ tools: [{ name: "bash", arguments: { command } }] });
const times = (text: string | undefined, part: string) => (text ?? "").split(part).length - 1;

test("a session of pi that a person steers gives the model each text once, after the tools of the turn", async () => {
  const { requests, error } = await session({
    turns: [bash("echo one > done"), bash("true"), { text: "Done." }],
    sent: { 0: [{ text: "Leave the logs alone." }, { text: "And </message-of-person> hurry." }] },
  });
  expect(error).toBeNull();
  expect(requests).toHaveLength(3);
  expect(requests[0]).not.toContain("Leave the logs alone.");
  for (const request of requests.slice(1)) {
    expect(times(request, "Leave the logs alone.")).toBe(1);
    expect(request).toContain("A person (the dashboard) says while you work:");
    expect(request).toContain("And &lt;/message-of-person> hurry.");
  }
});

test("a session of pi that a person steers takes another turn for a text that comes during its last one", async () => {
  const { requests, log } = await session({
    turns: [{ text: "Done." }, { text: "Calm." }],
    sent: { 0: [{}] },
  });
  expect(requests).toHaveLength(2);
  expect(times(requests[1], "Stay calm.")).toBe(1);
  expect(log).toContain("Calm.");
});

test("a session of pi that a person steers takes another turn for each text that comes after its last one", async () => {
  const text = (seq: number) =>
    ({ seq, kind: "steer", text: `Stay calm ${seq}.`, by: "the dashboard" }) as const;
  const { requests } = await session({
    turns: [{ text: "Done." }, { text: "Calm." }, { text: "Very." }],
    late: [text(1), text(2)],
  });
  expect(requests).toHaveLength(3);
  expect([1, 2].map((seq) => times(requests[2], `Stay calm ${seq}.`))).toEqual([1, 1]);
});

test("a session of pi that a person steers finishes the turn with its tools, and then ends as stopped", async () => {
  const { requests, error, stopped } = await session({
    turns: [bash("sleep 0.2; echo one > done"), { text: "Not this." }],
    sent: { 0: [{ kind: "stop", text: "" }, { text: "Too late." }] },
  });
  expect({ error, stopped }).toEqual({ error: null, stopped: true });
  expect(requests).toHaveLength(1);
  expect(await readFile(join(workDir(), "done"), "utf8")).toBe("one\n");
});

test("a session of pi that a person steers ends as stopped rather than ask the next model for a failed turn", async () => {
  const { requests, stopped } = await session({
    turns: [{ status: 400, error: "no" }],
    sent: { 0: [{ kind: "stop", text: "" }] },
  });
  expect(stopped).toBe(true);
  expect(requests).toHaveLength(1);
});

test("a kept session of pi is continued by a model that sees the earlier messages, without secrets", async () => {
  const { kept } = await session({ turns: [bash(`echo ${secret}`), { text: "It was said." }] });
  expect(kept.join("\n")).not.toContain(secret);
  // The script counts the earlier turns, too.
  const turns = [{ text: "0" }, { text: "1" }, bash("true"), { text: "Again." }];
  const { messages, error, log } = await session({ turns, earlier: kept });
  expect(error).toBeNull();
  expect(log).toContain("Again.");
  const roles = messages.map(({ role }) => role).filter((role) => role !== "system");
  expect(roles).toEqual(["user", "assistant", "tool", "assistant", "user", "assistant", "tool"]);
  expect(messages[0]?.role).toMatch(/system|developer/);
  expect(times(JSON.stringify(messages), "Do the work.")).toBeGreaterThan(1);
  expect(JSON.stringify(messages)).toContain("[redacted]");
});

test("a kept session of pi is kept of a run that was stopped amid a tool, and can be continued", async () => {
  const stop = new AbortController();
  const sent = { 0: [{ text: "Wait." }] };
  setTimeout(() => stop.abort(), 1_500);
  const { kept } = await session({ turns: [bash("sleep 30")], sent, signal: stop.signal });
  const turns = [{ text: "0" }, { text: "1" }, { text: "2" }];
  const { error, messages } = await session({ turns, earlier: kept });
  expect(error).toBeNull();
  expect(JSON.stringify(messages)).toContain("sleep 30");
});

test("a kept session of pi leaves out the beginning of a long one, and says so", async () => {
  const call = { type: "toolCall", id: "call-1", name: "bash", arguments: { command: "true" } };
  const turn = [
    { role: "assistant", content: [call] },
    { role: "toolResult", toolCallId: "call-1", content: [{ type: "text", text: long }] },
  ];
  const messages = [{ role: "user", content: "Go." }, ...Array.from({ length: 200 }, () => turn)];
  const conversation = {
    state: { messages: messages.flat() },
    convertToLlm: (all: unknown) => all,
  };
  const lines = await keptLines(conversation as never, (value) => value);
  expect(lines.join("\n").length).toBeLessThan(2.1 * 1024 * 1024);
  expect(Math.max(...lines.map(({ length }) => length))).toBeLessThanOrEqual(65_536);
  expect(lines[0]).toMatch(/The first \d+ messages of this session are left out/);
  expect(JSON.parse(lines[1] ?? "")).toMatchObject({ role: "assistant" });
  expect(lines[2]).toContain("more characters)");
});

const long = "x".repeat(90_000);
