import { isPlainObject } from "../../../foundation/contracts/json-size.ts";
import { messageOf } from "../../../foundation/errors.ts";
import { telegramMethod } from "../targets/telegram.ts";
import { cut } from "../target.ts";
import { callChat, type Receiver, type ReceiverDeps } from "./chat-api.ts";

/** How long Telegram holds a request open until there are updates, in seconds. */
export const pollSeconds = 30;

/** Long polls the presses of a bot's buttons: https://core.telegram.org/bots/api#getupdates */
export function createTelegramPoll(): Receiver {
  // An update is confirmed by the next request; without one it is sent again, and its question has its answer.
  let offset: number | undefined;
  return async (deps) => {
    const { result } = await callChat(deps.sendRequest, {
      url: telegramMethod(deps.fields, "getUpdates"),
      body: { offset, limit: 10, timeout: pollSeconds, allowed_updates: ["callback_query"] },
      signal: deps.signal,
    });
    deps.onReady();
    for (const update of Array.isArray(result) ? result.filter(isPlainObject) : []) {
      if (typeof update.update_id === "number") offset = update.update_id + 1;
      if (isPlainObject(update.callback_query)) await onCallback(deps, update.callback_query);
    }
  };
}

/** The client shows progress until it is answered: https://core.telegram.org/bots/api#answercallbackquery */
async function onCallback(
  { fields, sendRequest, press, warn }: ReceiverDeps,
  { id, from, data }: Readonly<Record<string, unknown>>,
): Promise<void> {
  const { id: userId, username, first_name: firstName } = isPlainObject(from) ? from : {};
  if (typeof id !== "string" || typeof userId !== "number" || typeof data !== "string") return;
  const userName = [username, firstName].find((name) => typeof name === "string") ?? "";
  const { isAnswered, text } = await press({
    via: "telegram",
    userId: String(userId),
    userName,
    data,
  });
  try {
    await callChat(sendRequest, {
      url: telegramMethod(fields, "answerCallbackQuery"),
      body: { callback_query_id: id, text: cut(text, 200), show_alert: !isAnswered },
    });
  } catch (error) {
    warn(`Telegram did not accept the response to a button: ${messageOf(error)}`);
  }
}
