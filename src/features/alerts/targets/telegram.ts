import { isPlainObject } from "../../../foundation/contracts/json-size.ts";
import { addressIn, optionalField, requiredField, unusable, severityMarks } from "../target.ts";
import { httpTarget } from "../http-target.ts";
import type { Fields, JsonAnswer, Meaning, TargetMessage } from "../target.ts";

const publicApi = "https://api.telegram.org";
/** The message has nothing to edit, or was edited before. */
const uneditable = /message (is not modified|to edit not found|can't be edited)/i;
const chatPattern = /^(-?\d{1,20}|@[A-Za-z]\w{3,})$/;

/**
 * Plain text needs no escapes; the title is bold by its place.
 * https://core.telegram.org/bots/api#sendmessage, #editmessagetext
 */
export const telegram = httpTarget({
  address: (fields, message) =>
    telegramMethod(fields, message?.receipt ? "editMessageText" : "sendMessage"),
  check: (fields) => {
    chatOf(fields);
  },
  body: (message, fields) => {
    const title = `${severityMarks[message.severity]} ${withoutMentions(message.title)}`;
    const [chat, edited] = message.receipt?.split(" ") ?? [chatOf(fields)];
    const keyboard = message.buttons.map(({ label, data }) => [
      { text: label, callback_data: data },
    ]);
    return {
      chat_id: chat,
      ...(edited !== undefined && { message_id: Number(edited) }),
      ...(keyboard.length > 0 && { reply_markup: { inline_keyboard: keyboard } }),
      text: [title, ...linesOf(message)].join("\n"),
      entities: [{ type: "bold", offset: 0, length: title.length }],
      link_preview_options: { is_disabled: true },
    };
  },
  meaning,
  receipt: (json) => {
    const message = isPlainObject(json) && isPlainObject(json.result) ? json.result : {};
    const { message_id: id, chat } = message;
    return typeof id === "number" && isPlainObject(chat) ? `${String(chat.id)} ${id}` : undefined;
  },
});

/** The address of a method of the Bot API, with the token in it. */
export function telegramMethod(fields: Fields, method: string): URL {
  const token = requiredField(fields, "token").trim();
  if (!/^\d+:[\w-]+$/.test(token)) throw unusable("token", "is not of the form 123456:ABC-DEF");
  const own = optionalField(fields, "url");
  const base = own === null ? publicApi : addressIn(fields, "url").href.replace(/\/$/, "");
  return new URL(`${base}/bot${token}/${method}`);
}

function chatOf(fields: Fields): string {
  const chat = requiredField(fields, "chat").trim();
  if (chatPattern.test(chat)) return chat;
  throw unusable("chat", "is neither the ID of a chat nor the @name of a channel");
}

function linesOf({ lines, url }: TargetMessage): string[] {
  return [
    ...lines.map(({ label, text }) => `${label}: ${withoutMentions(text)}`),
    ...(url === null ? [] : [url]),
  ];
}

/** Telegram makes a mention, which notifies its person, of each @name, wherever it stands. */
function withoutMentions(text: string): string {
  return text.replaceAll("@", "@\u200b");
}

/** Recognizes a removed bot and an unknown chat: https://core.telegram.org/bots/api#responseparameters */
function meaning({ status, json }: JsonAnswer): Meaning | null {
  if (status < 300 || !isPlainObject(json)) return null;
  const { description, parameters } = json;
  const reason = typeof description === "string" ? description : "";
  const { retry_after: after, migrate_to_chat_id: newChat } = isPlainObject(parameters)
    ? parameters
    : {};
  if (typeof newChat === "number") {
    return { type: "gone", reason: `${reason}; its chat is ${newChat} now` };
  }
  if (uneditable.test(reason)) return { type: "accepted" };
  const isGone = [401, 403, 404].includes(status) || /chat not found/i.test(reason);
  return {
    type: isGone ? "gone" : "failed",
    ...(reason !== "" && { reason }),
    ...(typeof after === "number" && after >= 0 && { retryAfter: after }),
  };
}
