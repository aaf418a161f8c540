import { isDeepStrictEqual } from "node:util";
import { z } from "zod";
import { jsonServer, type Json, type Refusal } from "./json-server.ts";

export const telegramToken = "110201543:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw";

/** Parameters of Telegram's methods: https://core.telegram.org/bots/api */
const pollForm = z.strictObject({
  offset: z.int().optional(),
  limit: z.int().min(1).max(100),
  timeout: z.int().min(0).max(50),
  allowed_updates: z.array(z.literal("callback_query")),
});
const messageForm = z.strictObject({
  chat_id: z.literal("-1001"),
  message_id: z.int().optional(),
  text: z.string().min(1).max(4096),
  entities: z.array(z.strictObject({ type: z.literal("bold"), offset: z.int(), length: z.int() })),
  link_preview_options: z.strictObject({ is_disabled: z.boolean() }),
  reply_markup: z.unknown().optional(),
});
const keyboard = z.strictObject({
  inline_keyboard: z.array(
    z.array(
      z.strictObject({
        text: z.string().min(1),
        callback_data: z
          .string()
          .min(1)
          .refine((data) => Buffer.byteLength(data) <= 64),
      }),
    ),
  ),
});
const responseForm = z.strictObject({
  callback_query_id: z.string(),
  text: z.string().max(200),
  show_alert: z.boolean(),
});

/**
 * Telegram's Bot API, as core.telegram.org/bots/api describes it; its refusals have the texts of the server's source,
 * github.com/tdlib/telegram-bot-api.
 */
export async function fakeTelegram() {
  const updates: Json[] = [];
  const refuse: Refusal[] = [];
  let [confirmed, messageId] = [0, 0];
  let endPoll: (byOther: boolean) => void = () => undefined;
  const bad = (description: string, status = 400): Refusal => ({
    status,
    json: { ok: false, error_code: status, description },
  });
  const messages = new Map<number, Json>();
  /** The open queries, and the texts that answered the others. */
  const callbacks = new Map<string, string | null>();
  const put = (method: string, body: Json): Refusal | Json => {
    if (body.reply_markup !== undefined && !keyboard.safeParse(body.reply_markup).success)
      return bad("Bad Request: BUTTON_DATA_INVALID");
    if (!messageForm.safeParse(body).success) return bad("Bad Request: message is too long");
    const id = method === "sendMessage" ? ++messageId : Number(body.message_id);
    if (id > messageId) return bad("Bad Request: message to edit not found");
    if (isDeepStrictEqual(messages.get(id), body))
      return bad("Bad Request: message is not modified: specified new message content is the same");
    messages.set(id, body);
    return { ok: true, result: { message_id: id, chat: { id: -1001 } } };
  };
  /** An update is confirmed by a later offset. One request waits: the next one ends it. */
  const poll = async (body: Json): Promise<Refusal | Json> => {
    const { offset = 0, limit, timeout } = pollForm.parse(body);
    endPoll(true);
    confirmed = Math.max(confirmed, offset);
    const pending = () => updates.filter(({ update_id: id }) => Number(id) >= confirmed);
    const byOther =
      pending().length === 0 &&
      (await new Promise<boolean>((resolve) => {
        endPoll = resolve;
        AbortSignal.timeout(timeout * 1000).addEventListener("abort", () => resolve(false));
      }));
    const conflict =
      "Conflict: terminated by other getUpdates request; make sure that only one bot instance is running";
    return byOther ? bad(conflict, 409) : { ok: true, result: pending().slice(0, limit) };
  };
  const respond = (body: Json): Refusal | Json => {
    const { success, data } = responseForm.safeParse(body);
    if (!success) return bad("Bad Request: MESSAGE_TOO_LONG");
    if (callbacks.get(data.callback_query_id) !== null)
      return bad(
        "Bad Request: query is too old and response timeout expired or query ID is invalid",
      );
    callbacks.set(data.callback_query_id, data.text);
    return { ok: true, result: true };
  };
  const api = await jsonServer(({ method, body, token }) => {
    if (!token.startsWith(`bot${telegramToken} `)) return bad("Unauthorized", 401);
    const refusal = refuse.shift();
    if (refusal !== undefined) return refusal;
    if (method === "getUpdates") return poll(body);
    return method === "answerCallbackQuery" ? respond(body) : put(method, body);
  });
  return {
    ...api,
    refuse,
    messages,
    fields: { token: telegramToken, chat: "-1001", url: api.base },
    confirmed: () => confirmed,
    press: (data: string, user: number, id: string) => {
      callbacks.set(id, null);
      const from = { id: user, is_bot: false, first_name: "Ada" };
      updates.push({ update_id: updates.length + 7, callback_query: { id, from, data } });
      endPoll(false);
    },
    /** The text that a press was answered with; null until then. */
    responseTo: (id: string): string | null => callbacks.get(id) ?? null,
  };
}
