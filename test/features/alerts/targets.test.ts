import type { Alert, TargetAnswer } from "../../../src/features/alerts/rules/alert.ts";
import type { Fields } from "../../../src/features/alerts/target.ts";
import { fakeApis, type Reply } from "./fake-apis.ts";
import { startReceiver } from "./receiver.ts";
import type { AnswerForm, Question } from "../../../src/foundation/contracts/questions.ts";
import { alerts, aQuestion, hostileText, messageFor, sendWith, targetOf } from "./samples.ts";

type HttpType = keyof typeof fakeApis;
const types = Object.keys(fakeApis) as HttpType[];
const [opened, hostile] = [alerts.opened as Alert, alerts.hostile as Alert];
const question = alerts.question as Alert;

function send(type: HttpType, fields: Fields, alert: Alert = opened): Promise<TargetAnswer> {
  return sendWith(fields)(messageFor(alert), targetOf(type));
}

describe.each(types)("%s", (type) => {
  const { fields, answer } = fakeApis[type];

  test.each(Object.entries(alerts))(
    "an alert target accepts an alert: %s",
    async (_name, alert) => {
      const { base, received } = await startReceiver(answer);
      expect(await send(type, fields(base), alert)).toEqual({ type: "accepted" });
      expect(received).toHaveLength(1);
    },
  );

  test("an alert target shows agent, reason and link, and untrusted text as text", async () => {
    const { base, received } = await startReceiver(answer);
    await send(type, fields(base));
    await send(type, fields(base), hostile);
    const [first = "", second = ""] = received.map(({ text }) => text);
    expect(first).toContain("dev failed");
    expect(first).toContain("exit code 2");
    expect(first).toContain("/dashboard/agents/dev?a=1&");
    expect(second).toContain("evil");
    expect(second).not.toMatch(/\\u001b|\u001b|\u202e/);
  });

  test("an alert target works without an address of the dashboard", async () => {
    const { base } = await startReceiver(answer);
    const message = { ...messageFor(opened), url: null };
    const given = await sendWith(fields(base))(message, targetOf(type));
    expect(given).toEqual({ type: "accepted" });
  });

  test("an alert target is switched off by 410", async () => {
    const { base } = await startReceiver(() => ({ status: 410, body: "gone for good" }));
    expect(await send(type, fields(base))).toEqual({
      type: "gone",
      error: "it answered 410: gone for good",
    });
  });

  test.each([
    ["seconds", () => "120", 120_000],
    ["a date", () => new Date(Date.now() + 60_000).toUTCString(), 60_000],
    ["nothing that can be read", () => "soon", null],
  ])(
    "an alert is retried after the Retry-After of its target: %s",
    async (_name, header, afterMs) => {
      const { base } = await startReceiver(() => ({
        status: 503,
        headers: { "retry-after": header() },
      }));
      const given = await send(type, fields(base));
      expect(given).toMatchObject({ type: "failed", error: "it answered 503" });
      const after = given.type === "failed" ? given.afterMs : 0;
      if (afterMs === null) expect(after).toBeNull();
      else expect(Math.abs((after ?? 0) - afterMs)).toBeLessThan(2_000);
    },
  );

  test("an alert target is not followed when it redirects", async () => {
    const inner = await startReceiver(() => ({ status: 200 }));
    const headers = { location: `${inner.base}/admin` };
    const { base } = await startReceiver(() => ({ status: 307, headers }));
    const given = await send(type, fields(base));
    expect(given).toMatchObject({ type: "failed", afterMs: null });
    expect(given).toMatchObject({ error: expect.stringContaining("not followed (307)") as string });
    expect(inner.received).toEqual([]);
  });

  test("an alert target shows no part of its address in errors", async () => {
    const echo = ({ path }: { readonly path: string }): Reply => ({
      status: 500,
      body: `Cannot POST ${path}`,
    });
    const { base, received } = await startReceiver(echo);
    const given = await send(type, fields(base));
    expect(given.type).toBe("failed");
    const { pathname, search } = new URL(received[0]?.path ?? "", base);
    const secrets = [...pathname.split("/"), search].filter((part) => part.length > 8);
    for (const secret of secrets) expect(JSON.stringify(given)).not.toContain(secret);
  });
});

const own: readonly (readonly [string, HttpType, Reply, object])[] = [
  [
    "Slack: the webhook was removed",
    "slack",
    { status: 404, body: "no_service" },
    { type: "gone", error: "it answered 404: no_service" },
  ],
  [
    "Slack: another 404",
    "slack",
    { status: 404, body: "not found" },
    { type: "failed", afterMs: null },
  ],
  [
    "Discord: the webhook was removed",
    "discord",
    { status: 404, body: '{"message": "Unknown Webhook", "code": 10015}' },
    { type: "gone", error: "it answered 404: Unknown Webhook" },
  ],
  [
    "Discord: its own seconds, with a fraction",
    "discord",
    {
      status: 429,
      headers: { "retry-after": "1" },
      body: '{"message": "You are being rate limited.", "retry_after": 64.57, "global": false}',
    },
    { type: "failed", error: "it answered 429: You are being rate limited.", afterMs: 64_570 },
  ],
  [
    "Teams: the workflow was removed",
    "teams",
    { status: 404, body: '{"error": {"code": "WorkflowNotFound", "message": "No such workflow"}}' },
    { type: "gone", error: "it answered 404: No such workflow" },
  ],
  [
    "Teams: throttled inside of a 200",
    "teams",
    {
      status: 200,
      body: "Webhook message delivery failed with error: Microsoft Teams endpoint returned HTTP error 429 with ContextId",
    },
    { type: "failed", afterMs: null },
  ],
  ["Teams: a 200 with its old answer", "teams", { status: 200, body: "1" }, { type: "accepted" }],
  [
    "Telegram: the bot was removed from the chat",
    "telegram",
    {
      status: 403,
      body: '{"ok":false,"error_code":403,"description":"Forbidden: bot was kicked from the group chat"}',
    },
    { type: "gone", error: "it answered 403: Forbidden: bot was kicked from the group chat" },
  ],
  [
    "Telegram: its own seconds",
    "telegram",
    {
      status: 429,
      body: '{"ok":false,"error_code":429,"description":"Too Many Requests: retry after 34","parameters":{"retry_after":34}}',
    },
    { type: "failed", afterMs: 34_000 },
  ],
  [
    "Telegram: the group got another ID",
    "telegram",
    {
      status: 400,
      body: '{"ok":false,"error_code":400,"description":"Bad Request: group chat was upgraded to a supergroup chat","parameters":{"migrate_to_chat_id":-1009876543210}}',
    },
    { type: "gone", error: expect.stringContaining("its chat is -1009876543210 now") as string },
  ],
  [
    "ntfy: too many",
    "ntfy",
    { status: 429, body: '{"code":42901,"http":429,"error":"limit reached: too many requests"}' },
    { type: "failed", error: "it answered 429: limit reached: too many requests" },
  ],
];

type Action = Readonly<Record<"action" | "label" | "url" | "method" | "body", string>>;
async function ntfyActions(asked: Question): Promise<readonly Action[]> {
  const { base, received } = await startReceiver(fakeApis.ntfy.answer);
  const message = { ...messageFor(question), question: asked };
  const answer = await sendWith(fakeApis.ntfy.fields(base))(message, targetOf("ntfy"));
  expect(answer).toEqual({ type: "accepted" });
  const sent = JSON.parse(received[0]?.text ?? "") as { readonly actions: readonly Action[] };
  return sent.actions;
}
const choices = (...names: readonly string[]): AnswerForm => ({ kind: "choice", choices: names });

test.each<[string, Partial<Question>, readonly string[]]>([
  ["yes or no", { form: { kind: "boolean" } }, ["Yes", "No", "Answer"]],
  ["three choices fill the message", { form: choices("a", "b", "c") }, ["a", "b", "c"]],
  ["more choices are on the page", { form: choices("a", "b", "c", "d") }, ["Answer"]],
  ["a text is typed on the page", { form: { kind: "text", maxLength: 9 } }, ["Answer"]],
  ["a cut prompt is read whole first", { prompt: "x ".repeat(400) }, ["Answer"]],
  [
    "an approval is given for this request",
    { kind: "host", form: choices("once", "run", "always", "deny") },
    ["Allow once", "Deny", "Answer"],
  ],
  ["one that has ended has no button", { state: "withdrawn" }, ["Open in Almanac"]],
])("a question has buttons of ntfy: %s", async (_, more, labels) => {
  expect((await ntfyActions(aQuestion(more))).map(({ label }) => label)).toEqual(labels);
});

test("a question is answered by a POST of ntfy's button to its link", async () => {
  const [yes] = await ntfyActions(aQuestion({ form: { kind: "boolean" } }));
  const { url } = messageFor(question);
  expect(yes).toMatchObject({ action: "http", method: "POST", url, body: '{"answer":true}' });
});

test("a question has its prompt, its end and its default in each message", async () => {
  for (const type of types) {
    const { base, received } = await startReceiver(fakeApis[type].answer);
    const message = { ...messageFor(question), question: aQuestion({ gates: ["dev", "ops"] }) };
    await sendWith(fakeApis[type].fields(base))(message, targetOf(type));
    const text = received[0]?.text.replaceAll("\\", "");
    const held = "the gates of ops, by whose call it runs";
    for (const part of ["Deploy 1.4 of evil?", held, "then the answer is wait", "al questions"])
      expect(text, type).toContain(part);
  }
});

test("the link of a question is in no error, even if the target repeats it", async () => {
  const { base } = await startReceiver(({ text }) => ({ status: 500, body: text }));
  const url = "https://al.example.test/answer/c2VjcmV0LXRva2Vu";
  const message = { ...messageFor(question), url };
  const answer = await sendWith(fakeApis.discord.fields(base))(message, targetOf("discord"));
  expect(JSON.stringify(answer)).toContain("it answered 500");
  expect(JSON.stringify(answer)).not.toContain("c2VjcmV0LXRva2Vu");
});

test.each(own)("responses of a single API: %s", async (_name, type, reply, expected) => {
  const { base } = await startReceiver(() => reply);
  expect(await send(type, fakeApis[type].fields(base))).toMatchObject(expected);
});

test("the hostile sample has all hostile parts", () => {
  for (const part of ["<!channel>", "@everyone", "\u001b[", "\u202e", "\r\n"]) {
    expect(hostileText).toContain(part);
  }
});
