import { retryAfterMs } from "../../../src/features/alerts/http-target.ts";
import type { AlertMessage } from "../../../src/features/alerts/rules/alert.ts";
import type { AnswerForm, Question } from "../../../src/foundation/contracts/questions.ts";
import { fakeApis, type FakeApi, type Received, type Reply } from "./fake-apis.ts";
import { startReceiver } from "./receiver.ts";
import repliesJson from "./replies.json" with { type: "json" };
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

/** Replies as each API's own pages show them, and how they count. */
const replies = repliesJson as readonly {
  readonly what: string;
  readonly type: HttpType;
  readonly reply: Reply;
  readonly answer: object;
}[];

test.each(replies)("when sending an alert, $what ($type)", async ({ type, reply, answer }) => {
  const { given } = await send(type, { answer: () => reply });
  expect(given).toMatchObject(answer);
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
    const held = "the gates of ops, which called it";
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
