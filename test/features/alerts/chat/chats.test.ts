import { Subject } from "rxjs";
import { expect, onTestFinished, test } from "vitest";
import type { AlertTarget } from "../../../../streams/alert-options.ts";
import { createChats } from "../../../../src/features/alerts/chat/chats.ts";
import type { Alert, TargetAnswer } from "../../../../src/features/alerts/rules/alert.ts";
import type { Fields } from "../../../../src/features/alerts/target.ts";
import type { Answer, Person, Question } from "../../../../src/foundation/contracts/questions.ts";
import { UserError } from "../../../../src/foundation/errors.ts";
import { defaultOptions } from "../rules/alerts.ts";
import { alerts, aQuestion, messageFor, sendWith, targetOf } from "../samples.ts";
import { appToken, botToken, fakeSlack, fakeTelegram, telegramToken } from "./fake-chats.ts";

const question = aQuestion();
const choose = (index: number): string => `${question.id}:${index}`;
const slackOps: AlertTarget = { ...targetOf("slack"), credential: "slack_app", answers: ["U0ADA"] };
const telegramOps: AlertTarget = { ...targetOf("telegram"), answers: ["42"] };

/** Chats with these targets; the first answer counts. */
function listening(target: AlertTarget, fields: Fields, to: readonly string[] | null = null) {
  const given: { answer: Answer; by: Person }[] = [];
  const log: string[] = [];
  const changed$ = new Subject<unknown>();
  let targets: readonly AlertTarget[] = [target];
  const subscription = createChats({
    targets: () => targets,
    changed$,
    optionsOf: () => ({ ...defaultOptions, to }),
    credential: () => Promise.resolve(fields),
    find: (id) => (id === question.id ? question : null),
    answer: (_id, answer, by) => {
      if (given.length > 0) return Promise.reject(new UserError("answered", "Ada answered: wait"));
      given.push({ answer, by });
      return Promise.resolve();
    },
    proxyEnv: {},
    note: (message) => log.push(message),
    warn: (message) => log.push(message),
    firstWaitMs: 20,
  }).subscribe();
  onTestFinished(() => subscription.unsubscribe());
  const change = (next: readonly AlertTarget[]): void => {
    targets = next;
    changed$.next(null);
  };
  return { given, log, change, stop: () => subscription.unsubscribe() };
}

const send = (
  target: AlertTarget,
  fields: Fields,
  more: { asked?: Question; receipt?: string } = {},
): Promise<TargetAnswer> =>
  sendWith(fields)(
    {
      ...messageFor(alerts.question as Alert),
      question: more.asked ?? question,
      receipt: more.receipt,
    },
    target,
  );
const ended: Question = {
  ...question,
  state: "answered",
  answer: "wait",
  answeredAt: question.at + 1000,
  by: { via: "key", name: "", from: null },
};
const ofMethod = (calls: readonly { method: string; body: object }[], method: string) =>
  calls.filter((call) => call.method === method).map(({ body }) => body);

test("a press in Slack is acknowledged, answers, and is attributed to the listed person", async () => {
  const slack = await fakeSlack();
  const { given } = listening(slackOps, slack.fields);
  await expect.poll(() => slack.open).toHaveLength(1);
  slack.press(choose(1), "U0ADA", "e1");
  const by = { via: "slack", name: "ada (U0ADA)", from: null };
  await expect.poll(() => given).toEqual([{ answer: "wait", by }]);
  expect(slack.acks).toEqual(["e1"]);
  slack.press(choose(0), "U0ADA", "e2");
  await expect
    .poll(() => ofMethod(slack.calls, "chat.postEphemeral"))
    .toEqual([{ channel: "C0OPS00001", user: "U0ADA", text: "Ada answered: wait" }]);
});

test("a stranger's press in Slack answers nothing, is refused to them alone, and is logged", async () => {
  const slack = await fakeSlack();
  const { given, log } = listening(slackOps, slack.fields);
  await expect.poll(() => slack.open).toHaveLength(1);
  slack.press(choose(0), "U0EVE", "e1");
  await expect.poll(() => ofMethod(slack.calls, "chat.postEphemeral")).toHaveLength(1);
  expect(ofMethod(slack.calls, "chat.postEphemeral")).toMatchObject([{ user: "U0EVE" }]);
  expect(given).toEqual([]);
  expect(log).toEqual(["ada (U0EVE) may not answer a question of dev by Slack"]);
});

test("a person of a target that the agent's alerts don't go to may not answer", async () => {
  const slack = await fakeSlack();
  const { given, log } = listening(slackOps, slack.fields, ["other"]);
  await expect.poll(() => slack.open).toHaveLength(1);
  slack.press(choose(0), "U0ADA", "e1");
  await expect.poll(() => log).toHaveLength(1);
  slack.press("unknown:0", "U0ADA", "e2");
  await expect.poll(() => ofMethod(slack.calls, "chat.postEphemeral")).toHaveLength(2);
  expect(given).toEqual([]);
});

test("Slack's wish for a new connection is followed, and the old one takes presses until it closes", async () => {
  const slack = await fakeSlack();
  const { given, log } = listening(slackOps, slack.fields);
  await expect.poll(() => slack.open).toHaveLength(1);
  slack.open[0]?.send(JSON.stringify({ type: "disconnect", reason: "refresh_requested" }));
  await expect.poll(() => slack.open).toHaveLength(2);
  slack.press(choose(1), "U0ADA", "e1", slack.open[0]);
  await expect.poll(() => given).toHaveLength(1);
  expect(log).toEqual([]);
});

test("Slack's lost connections and 429 are retried, and no token is logged", async () => {
  const slack = await fakeSlack();
  slack.refuse.push({
    status: 429,
    headers: { "retry-after": "1" },
    json: { ok: false, error: "ratelimited" },
  });
  const before = Date.now();
  const { log } = listening(slackOps, slack.fields);
  await expect.poll(() => slack.open, { timeout: 5000 }).toHaveLength(1);
  expect(Date.now() - before).toBeGreaterThan(900);
  await expect.poll(() => log).toHaveLength(2);
  slack.open[0]?.close();
  await expect.poll(() => slack.open).toHaveLength(2);
  await expect.poll(() => log).toHaveLength(4);
  expect(log).toEqual([
    "answers by Slack (slack_app): ratelimited",
    "answers by Slack are received again",
    "answers by Slack (slack_app): Slack closed the connection",
    "answers by Slack are received again",
  ]);
  const wrong = listening(slackOps, { ...slack.fields, app_token: "xapp-other" });
  await expect
    .poll(() => wrong.log)
    .toEqual(["answers by Slack (slack_app): not_allowed_token_type"]);
  for (const secret of [botToken, appToken, "t1cket-s3cret", "xapp-other"])
    expect(log.concat(wrong.log).join()).not.toContain(secret);
});

test("the connection follows the config, and ends with the scheduler", async () => {
  const slack = await fakeSlack();
  const { change, given } = listening({ ...slackOps, answers: [] }, slack.fields);
  change([slackOps]);
  await expect.poll(() => slack.open).toHaveLength(1);
  change([{ ...slackOps, answers: ["U0EVE"] }]);
  slack.press(choose(0), "U0EVE", "e1");
  await expect.poll(() => given).toHaveLength(1);
  expect(slack.open).toHaveLength(1);
  change([]);
  const connections = (): Promise<number> =>
    new Promise((resolve) => slack.server.getConnections((_, count) => resolve(count)));
  await expect.poll(connections).toBe(0);
});

test("a question in Slack has buttons, and loses them as it is edited with its answer", async () => {
  const slack = await fakeSlack();
  const posted = await send(slackOps, slack.fields);
  expect(posted).toMatchObject({ type: "accepted", receipt: "C0OPS00001 1795356300.000100" });
  const shown = (): string => JSON.stringify([...slack.messages.values()]);
  expect(shown()).toContain(choose(1));
  const receipt = posted.type === "accepted" ? posted.receipt : undefined;
  const edited = await send(slackOps, slack.fields, { asked: ended, receipt: receipt ?? "" });
  expect(edited).toEqual({ type: "accepted" });
  expect(shown()).toContain("dev: the API key answered: wait");
  expect(shown()).not.toContain(choose(1));
  const gone = await send(slackOps, slack.fields, { asked: ended, receipt: "C0OPS00001 1.1" });
  expect(gone).toEqual({ type: "accepted" });
  const linkOnly = await send({ ...slackOps, answers: [] }, slack.fields);
  expect(linkOnly.type).toBe("accepted");
  expect(JSON.stringify([...slack.messages.values()].at(-1))).not.toContain("actions");
});

test("a missing scope of Slack's app is named, and switches the target off", async () => {
  const slack = await fakeSlack();
  slack.refuse.push({
    status: 200,
    json: { ok: false, error: "missing_scope", needed: "chat:write" },
  });
  expect(await send(slackOps, slack.fields)).toEqual({
    type: "gone",
    error: "it answered 200: missing_scope; the app needs the scope chat:write",
  });
});

test("a press in Telegram answers, and its update is confirmed; a stranger gets an alert", async () => {
  const telegram = await fakeTelegram();
  const { given, log } = listening(telegramOps, telegram.fields);
  telegram.press(choose(0), 666, "q1");
  await expect.poll(() => log).toEqual(["Ada (666) may not answer a question of dev by Telegram"]);
  telegram.press(choose(1), 42, "q2");
  await expect
    .poll(() => given)
    .toEqual([{ answer: "wait", by: { via: "telegram", name: "Ada (42)", from: null } }]);
  await expect.poll(() => telegram.confirmed()).toBe(9);
  expect(ofMethod(telegram.calls, "answerCallbackQuery")).toMatchObject([
    { callback_query_id: "q1", show_alert: true, text: expect.stringContaining("666") as string },
    { callback_query_id: "q2", show_alert: false, text: "You answered: wait" },
  ]);
});

test("Telegram's 429 and refused polls are retried, and its token is not logged", async () => {
  const telegram = await fakeTelegram();
  const parameters = { retry_after: 1 };
  const description = "Too Many Requests: retry after 1";
  telegram.refuse.push({
    status: 429,
    json: { ok: false, error_code: 429, description, parameters },
  });
  const { given, log } = listening(telegramOps, telegram.fields);
  const wrong = listening(telegramOps, { ...telegram.fields, token: "1:wrong-t0ken-of-a-bot" });
  telegram.press(choose(1), 42, "q1");
  await expect.poll(() => given, { timeout: 5000 }).toHaveLength(1);
  expect(log).toEqual([
    `answers by Telegram (telegram): ${description}`,
    "answers by Telegram are received again",
  ]);
  await expect.poll(() => wrong.log).toEqual(["answers by Telegram (telegram): Unauthorized"]);
  expect(log.concat(wrong.log).join()).not.toMatch(new RegExp(`${telegramToken}|wrong-t0ken`));
});

test("a question in Telegram has buttons, and loses them as it is edited", async () => {
  const telegram = await fakeTelegram();
  const posted = await send(telegramOps, telegram.fields);
  expect(posted).toEqual({ type: "accepted", receipt: "-1001 1" });
  expect(JSON.stringify(telegram.messages.get(1))).toContain(choose(1));
  await send(telegramOps, telegram.fields, { asked: ended, receipt: "-1001 1" });
  expect(JSON.stringify(telegram.messages.get(1))).toContain("dev: the API key answered: wait");
  expect(JSON.stringify(telegram.messages.get(1))).not.toContain("inline_keyboard");
  const lost = await send(telegramOps, telegram.fields, { asked: ended, receipt: "-1001 9" });
  expect(lost).toEqual({ type: "accepted" });
});

test("a bot that two credentials have is read once", async () => {
  const telegram = await fakeTelegram();
  const { change, given, log } = listening(telegramOps, telegram.fields);
  change([telegramOps, { ...telegramOps, name: "other", credential: "telegram_bot:b" }]);
  await expect
    .poll(() => log)
    .toEqual([expect.stringMatching(/another credential has the same token/) as string]);
  telegram.press(choose(1), 42, "q1");
  await expect.poll(() => given).toHaveLength(1);
});
