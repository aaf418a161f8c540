import { isoTime } from "../../../../streams/iso-times.ts";
import type { AlertSeverity } from "../rules/alert-text.ts";
import { isPlainObject } from "../../../foundation/contracts/json-size.ts";
import { addressIn, cut, type JsonAnswer, type Meaning, type TargetMessage } from "../target.ts";
import { httpTarget } from "../http-target.ts";

const colors: Readonly<Record<AlertSeverity, number>> = {
  error: 0xd92d20,
  warning: 0xf79009,
  ok: 0x17b26a,
};

/** Unknown webhook, unknown channel, invalid webhook token. */
const goneCodes: readonly unknown[] = [10015, 10003, 50027];

/** https://discord.com/developers/docs/resources/webhook#execute-webhook */
export const discord = httpTarget({
  address: (fields) => addressIn(fields, "url"),
  body: (message) => ({ embeds: [embed(message)], allowed_mentions: { parse: [] } }),
  meaning,
});

function embed({ title, severity, lines, url, alert }: TargetMessage) {
  const written = lines.map(({ label, text }) => `**${label}** ${escaped(text)}`);
  return {
    title: cut(escaped(title), 256),
    ...(url === null ? {} : { url }),
    description: written.join("\n"),
    color: colors[severity],
    timestamp: isoTime(alert.at),
  };
}

/** Escapes the characters of Discord's Markdown and of mentions. */
function escaped(text: string): string {
  return text.replaceAll(/[\\`*_~|>#[\]()<@:-]/g, "\\$&");
}

/** https://discord.com/developers/docs/topics/rate-limits, opcodes-and-status-codes */
function meaning({ json, status }: JsonAnswer): Meaning | null {
  if (status < 400 || !isPlainObject(json)) return null;
  const { code, message, retry_after: retryAfter } = json;
  const reason = typeof message === "string" ? message : undefined;
  return {
    type: goneCodes.includes(code) ? "gone" : "failed",
    ...(reason !== undefined && { reason }),
    ...(typeof retryAfter === "number" && retryAfter >= 0 && { retryAfter }),
  };
}
