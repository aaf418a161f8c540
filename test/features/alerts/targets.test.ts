import { retryAfterMs } from "../../../src/features/alerts/http-target.ts";
import type { AlertMessage } from "../../../src/features/alerts/rules/alert.ts";
import type { AnswerForm, Question } from "../../../src/foundation/contracts/questions.ts";
import { fakeApis, type FakeApi, type Received, type Reply } from "./fake-apis.ts";
import { startReceiver } from "./receiver.ts";
import { alerts, aQuestion, messageFor, sendWith, targetOf } from "./samples.ts";

type HttpType = keyof typeof fakeApis;
const types = Object.keys(fakeApis) as HttpType[];
const { opened } = alerts;
const accepted = { type: "accepted" };
const question = messageFor(alerts.question);

/** Sends to a server that gives `answer`, by default that of its API. */
async function send(
  type: HttpType,
  { answer = fakeApis[type].answer, ...more }: Partial<AlertMessage> & Partial<FakeApi> = {},
) {
  const { base, received } = await startReceiver(answer);
  const fields = fakeApis[type].fields(base);
  const given = await sendWith(fields)({ ...messageFor(opened), ...more }, targetOf(type));
  const [request] = received;
  return { given, text: request?.text ?? "", address: new URL(request?.path ?? "", base) };
}

describe.each(types)("an alert target of type %s", (type) => {
  test.each(Object.entries(alerts))(
    'accepts the request that is sent for the sample alert "%s"',
    async (_name, alert) => {
      const { given } = await send(type, messageFor(alert));
      expect(given).toEqual(accepted);
    },
  );

  test("shows agent, reason and link, and untrusted text as text", async () => {
    const { text } = await send(type);
    for (const part of ["dev failed", "exit code 2", "/dashboard/agents/dev?a=1&"])
      expect(text).toContain(part);
    const hostile = await send(type, messageFor(alerts.hostile));
    expect(hostile.text).toContain("evil");
    expect(hostile.text).not.toMatch(/\\u001b|\u001b|\u202e/);
  });

  test("accepts an alert if the dashboard's address is unknown", async () => {
    expect((await send(type, { url: null })).given).toEqual(accepted);
  });

  test("is reported as gone if it answers 410", async () => {
    const { given } = await send(type, { answer: () => ({ status: 410, body: "gone for good" }) });
    expect(given).toEqual({ type: "gone", error: "it answered 410: gone for good" });
  });

  test("is named in errors without any part of its address", async () => {
    const answer = ({ path }: Received): Reply => ({ status: 500, body: `Cannot POST ${path}` });
    const { given, address } = await send(type, { answer });
    expect(given.type).toBe("failed");
    for (const secret of [...address.pathname.split("/"), address.search])
      if (secret.length > 8) expect(JSON.stringify(given)).not.toContain(secret);
  });
});

test.each([
  ["120", 120_000],
  ["Thu, 01 Jan 1970 00:01:00 GMT", 59_000],
  ["soon", null],
  [undefined, null],
])("retryAfterMs of the header value %j is %j", (header, afterMs) => {
  expect(retryAfterMs(header, 1_000)).toBe(afterMs);
});

const json = (status: number, value: object): Reply => ({ status, body: JSON.stringify(value) });
const gone = (error: string) => ({ type: "gone", error: `it answered ${error}` });

test.each<[string, HttpType, Reply, object]>([
  [
    "a retry waits the seconds of Retry-After",
    "webhook",
    { status: 503, headers: { "retry-after": "120" } },
    { type: "failed", error: "it answered 503", afterMs: 120_000 },
  ],
  [
    "a redirect is an error and not followed",
    "webhook",
    { status: 307, headers: { location: "http://inner.test/admin" } },
    { error: "it redirects to inner.test, which is not followed (307)", afterMs: null },
  ],
  [
    "a removed webhook switches the target off",
    "slack",
    { status: 404, body: "no_service" },
    gone("404: no_service"),
  ],
  [
    "another 404 is a failure",
    "slack",
    { status: 404, body: "not found" },
    { type: "failed", afterMs: null },
  ],
  [
    "a removed webhook switches the target off",
    "discord",
    json(404, { message: "Unknown Webhook", code: 10015 }),
    gone("404: Unknown Webhook"),
  ],
  [
    "a retry waits the seconds of the body",
    "discord",
    { headers: { "retry-after": "1" }, ...json(429, { message: "limited", retry_after: 64.57 }) },
    { type: "failed", error: "it answered 429: limited", afterMs: 64_570 },
  ],
  [
    "a removed workflow switches the target off",
    "teams",
    json(404, { error: { code: "WorkflowNotFound", message: "No such workflow" } }),
    gone("404: No such workflow"),
  ],
  [
    "a 429 inside of a 200 is a failure",
    "teams",
    { status: 200, body: "Microsoft Teams endpoint returned HTTP error 429 with ContextId" },
    { type: "failed", afterMs: null },
  ],
  ["a body of 1 is accepted", "teams", { status: 200, body: "1" }, accepted],
  [
    "a removed bot switches the target off",
    "telegram",
    json(403, { description: "Forbidden: bot was kicked" }),
    gone("403: Forbidden: bot was kicked"),
  ],
  [
    "a retry waits the seconds of the body",
    "telegram",
    json(429, { description: "Too Many Requests", parameters: { retry_after: 34 } }),
    { type: "failed", afterMs: 34_000 },
  ],
  [
    "a group's new ID switches the target off and is shown in the error",
    "telegram",
    json(400, { description: "upgraded", parameters: { migrate_to_chat_id: -98 } }),
    gone("400: upgraded; its chat is -98 now"),
  ],
  [
    "a 429 is a failure with the text of the response",
    "ntfy",
    json(429, { code: 42901, error: "limit reached" }),
    { type: "failed", error: "it answered 429: limit reached" },
  ],
])("when sending an alert, %s (%s)", async (_name, type, reply, expected) => {
  const { given } = await send(type, { answer: () => reply });
  expect(given).toMatchObject(expected);
});

type Action = Readonly<Record<"action" | "label" | "url" | "method" | "body", string>>;
async function ntfyActions(asked: Partial<Question>): Promise<readonly Action[]> {
  const { given, text } = await send("ntfy", { ...question, question: aQuestion(asked) });
  expect(given).toEqual(accepted);
  return (JSON.parse(text) as { readonly actions: readonly Action[] }).actions;
}
const choices = (...names: readonly string[]): AnswerForm => ({ kind: "choice", choices: names });

test.each<[string, Partial<Question>, readonly string[]]>([
  [
    "that expects yes or no has both buttons",
    { form: { kind: "boolean" } },
    ["Yes", "No", "Answer"],
  ],
  ["of three choices has a button for each", { form: choices("a", "b", "c") }, ["a", "b", "c"]],
  [
    "of four choices has a button to its page only",
    { form: choices("a", "b", "c", "d") },
    ["Answer"],
  ],
  [
    "that expects a text has a button to its page only",
    { form: { kind: "text", maxLength: 9 } },
    ["Answer"],
  ],
  [
    "whose prompt is too long has a button to its page only",
    { prompt: "x ".repeat(400) },
    ["Answer"],
  ],
  [
    "about an approval has buttons to allow once and to deny",
    { kind: "host", form: choices("once", "run", "always", "deny") },
    ["Allow once", "Deny", "Answer"],
  ],
  ["that has ended has no answer button", { state: "withdrawn" }, ["Open in Almanac"]],
])("a question in ntfy %s", async (_, more, labels) => {
  expect((await ntfyActions(more)).map(({ label }) => label)).toEqual(labels);
});

test("ntfy's button answers a question by a POST to the answer link", async () => {
  const [yes] = await ntfyActions({ form: { kind: "boolean" } });
  const { url } = question;
  expect(yes).toMatchObject({ action: "http", method: "POST", url, body: '{"answer":true}' });
});

test.each(types)(
  "the message to %s about a question shows its prompt, its end and its default answer",
  async (type) => {
    const { text } = await send(type, {
      ...question,
      question: aQuestion({ gates: ["dev", "ops"] }),
    });
    const held = "the gates of ops, by whose call it runs";
    for (const part of ["Deploy 1.4 of evil?", held, "then the answer is wait", "al questions"])
      expect(text.replaceAll("\\", "")).toContain(part);
  },
);

test("the answer link of a question is left out of errors, even if the target's response repeats it", async () => {
  const { given } = await send("discord", {
    ...question,
    url: "https://al.example.test/answer/c2VjcmV0LXRva2Vu",
    answer: ({ text }) => ({ status: 500, body: text }),
  });
  expect(JSON.stringify(given)).toContain("it answered 500");
  expect(JSON.stringify(given)).not.toContain("c2VjcmV0LXRva2Vu");
});
