import { isPlainObject } from "../../../foundation/contracts/json-size.ts";
import { addressIn, optionalField, requiredField, unusable } from "../target.ts";
import { httpTarget } from "../http-target.ts";
import type { Fields, JsonAnswer, Meaning, TargetMessage } from "../target.ts";
import { slackMessage } from "./slack-message.ts";

/** Errors that only a person can fix: https://docs.slack.dev/reference/methods/chat.postMessage#errors */
const goneErrors: readonly unknown[] = [
  "account_inactive",
  "channel_not_found",
  "invalid_auth",
  "is_archived",
  "missing_scope",
  "not_allowed_token_type",
  "not_authed",
  "not_in_channel",
  "token_expired",
  "token_revoked",
];
/** https://docs.slack.dev/reference/methods/chat.update#errors */
const uneditable: readonly unknown[] = [
  "cant_update_message",
  "edit_window_closed",
  "message_not_found",
];

/**
 * An app that posts to a channel, and edits the message about a question once it has ended.
 * https://docs.slack.dev/reference/methods/chat.postMessage, chat.update
 */
export const slackApp = httpTarget({
  address: (fields, message) =>
    slackMethod(fields, message?.receipt ? "chat.update" : "chat.postMessage"),
  check: (fields, { answers }) => {
    slackToken(fields, "bot_token");
    channelOf(fields);
    if (answers.length > 0 || optionalField(fields, "app_token") !== null) {
      slackToken(fields, "app_token");
    }
  },
  headers: (_body, _message, fields) => slackHeaders(fields, "bot_token"),
  body: (message, fields) => {
    const shown = slackMessage(message);
    const [channel, ts] = message.receipt?.split(" ") ?? [];
    if (ts !== undefined) return { channel, ts, text: shown.text, blocks: shown.blocks };
    const blocks = [...shown.blocks, ...buttonsOf(message)];
    return { channel: channelOf(fields), ...shown, blocks };
  },
  meaning,
  receipt: (json) => {
    const { channel, ts } = isPlainObject(json) ? json : {};
    return typeof channel === "string" && typeof ts === "string" ? `${channel} ${ts}` : undefined;
  },
});

/** The address of a method of the Web API. */
export function slackMethod(fields: Fields, method: string): URL {
  const own = optionalField(fields, "url");
  const base = own === null ? "https://slack.com/api" : addressIn(fields, "url").href;
  return new URL(`${base.replace(/\/$/, "")}/${method}`);
}

export function slackHeaders(fields: Fields, token: "bot_token" | "app_token"): Fields {
  const type = "application/json; charset=utf-8";
  return { "content-type": type, authorization: `Bearer ${slackToken(fields, token)}` };
}

/** https://docs.slack.dev/authentication/tokens */
function slackToken(fields: Fields, field: "bot_token" | "app_token"): string {
  const token = requiredField(fields, field).trim();
  const prefix = field === "bot_token" ? "xoxb-" : "xapp-";
  if (token.startsWith(prefix) && /^[\w-]+$/.test(token)) return token;
  throw unusable(field, `does not begin with ${prefix}`);
}

function channelOf(fields: Fields): string {
  const channel = requiredField(fields, "channel").trim();
  if (/^#?[\p{L}\p{N}._-]{1,80}$/u.test(channel)) return channel;
  throw unusable("channel", "is neither the ID of a channel nor its #name");
}

/** https://docs.slack.dev/reference/block-kit/blocks/actions-block */
function buttonsOf({ buttons }: TargetMessage) {
  const elements = buttons.map(({ label, data }) => ({
    type: "button",
    text: { type: "plain_text", text: label, emoji: false },
    action_id: data,
    value: data,
  }));
  return elements.length === 0 ? [] : [{ type: "actions", elements }];
}

/** Errors have the status 200. */
function meaning({ status, json }: JsonAnswer): Meaning | null {
  if (!isPlainObject(json)) return status < 300 ? { type: "failed" } : null;
  const { ok, error, needed } = json;
  if (ok === true || uneditable.includes(error)) return null;
  const scope = typeof needed === "string" ? `; the app needs the scope ${needed}` : "";
  const reason = typeof error === "string" ? { reason: `${error}${scope}` } : {};
  return { type: goneErrors.includes(error) ? "gone" : "failed", ...reason };
}
