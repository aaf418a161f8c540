import { fakeTelegram, telegramToken } from "./fake-telegram.ts";
import { choose, ended, listening, ofMethod, send, telegramOps } from "./listening.ts";

test("pressing a button in Telegram answers the question; an unlisted person gets a refusal", async () => {
  const telegram = await fakeTelegram();
  const { given, log } = listening(telegramOps, telegram.fields);
  telegram.press(choose(0), 666, "q1");
  await expect.poll(() => log).toEqual(["Ada (666) may not answer a question of dev via Telegram"]);
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

test("polling Telegram is retried after a 429 or a refusal, and the bot's token is not logged", async () => {
  const telegram = await fakeTelegram();
  const description = "Too Many Requests: retry after 1";
  const json = { ok: false, error_code: 429, description, parameters: { retry_after: 1 } };
  telegram.refuse.push({ status: 429, json });
  const { given, log } = listening(telegramOps, telegram.fields);
  const wrong = listening(telegramOps, { ...telegram.fields, token: "1:wrong-t0ken-of-a-bot" });
  telegram.press(choose(1), 42, "q1");
  await expect.poll(() => given).toHaveLength(1);
  expect(log).toEqual([
    `answers via Telegram (telegram): ${description}`,
    "answers via Telegram are received again",
  ]);
  await expect.poll(() => wrong.log).toEqual(["answers via Telegram (telegram): Unauthorized"]);
  expect(log.concat(wrong.log).join()).not.toMatch(new RegExp(`${telegramToken}|wrong-t0ken`));
});

test("a question in Telegram has buttons until its message is edited to show the answer", async () => {
  const telegram = await fakeTelegram();
  const posted = await send(telegramOps, telegram.fields);
  expect(posted).toEqual({ type: "accepted", receipt: "-1001 1" });
  const shown = () => JSON.stringify(telegram.messages.get(1));
  expect(shown()).toContain(choose(1));
  // The second message does not exist.
  for (const receipt of ["-1001 1", "-1001 9"]) {
    const edited = await send(telegramOps, telegram.fields, { asked: ended, receipt });
    expect(edited).toEqual({ type: "accepted" });
    expect(shown()).toContain("dev: al on this machine answered: wait");
    expect(shown()).not.toContain("inline_keyboard");
  }
});

test("if another program polls the same Telegram bot, the refusal is logged, and answers arrive once that program stops", async () => {
  const telegram = await fakeTelegram();
  const first = listening(telegramOps, telegram.fields);
  await expect.poll(() => telegram.calls).toHaveLength(1);
  const second = listening(telegramOps, telegram.fields);
  await expect
    .poll(() => first.log.join())
    .toMatch(/Conflict: terminated by other .+; make sure that only one bot instance is running/);
  second.stop();
  telegram.press(choose(1), 42, "q1");
  await expect.poll(() => first.given).toHaveLength(1);
  await expect.poll(() => telegram.responseTo("q1")).toBe("You answered: wait");
});

test("a Telegram bot with two credentials is polled once", async () => {
  const telegram = await fakeTelegram();
  const { change, given, log } = listening(telegramOps, telegram.fields);
  change([telegramOps, { ...telegramOps, name: "other", credential: "telegram_bot:b" }]);
  await expect
    .poll(() => log)
    .toEqual([expect.stringMatching(/another credential has the same token/) as string]);
  telegram.press(choose(1), 42, "q1");
  await expect.poll(() => given).toHaveLength(1);
});
