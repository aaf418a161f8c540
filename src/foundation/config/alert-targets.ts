import { z } from "zod";
import { alertTargetTypes } from "../../../streams/alert-options.ts";
import type { AlertTarget, AlertTargetType, QuietHours } from "../../../streams/alert-options.ts";
import { parseCredentialReference } from "../contracts/credential-reference.ts";
import type { Diagnostics } from "./validate.ts";
import {
  choice,
  credential,
  list,
  pattern,
  table,
  alertCredentialTypes,
  slackAppType,
} from "./fields.ts";
import { formatValue } from "./format-value.ts";

const quietError = 'two different times of day, e.g. "22:00-07:00"';
const quietPattern = /^([01]\d|2[0-3]):([0-5]\d)-([01]\d|2[0-3]):([0-5]\d)$/;

// \x5b is "[", which unescaped begins a nested set in the regular expressions of some editors.
const address = pattern(
  /^[^\s@<>,;:"()\x5b\]\\]{1,64}@[A-Za-z0-9-]+(\.[A-Za-z0-9-]+)*$/,
  'an e-mail address, e.g. "ops@example.com"',
);

const usersExpected =
  'a list of IDs of users, e.g. ["U0123ABC"] of Slack or [12345678] of Telegram';
const userExpected = 'the ID of a user, e.g. "U0123ABC" of Slack or 12345678 of Telegram';
const chatUser = z.union(
  [pattern(/^[UW][A-Z0-9]{2,30}$/, userExpected), z.int({ error: userExpected }).positive()],
  { error: userExpected },
);

const targetSchema = table({
  type: choice(alertTargetTypes).describe("The service that receives the alerts."),
  credential: credential()
    .optional()
    .meta({
      description: "The credential that contains the target's address and secrets.",
      fallback: `the default instance of the target's credential type: ${credentialList()}`,
    }),
  to: list(address, 'a list of e-mail addresses, e.g. ["ops@example.com"]')
    .default([])
    .describe('Recipients. Required for "email" only.'),
  answers: list(chatUser, usersExpected)
    .default([])
    .describe(
      'IDs of the users who may answer questions with buttons in a "slack" or "telegram" target. If empty, messages contain only a link.',
    ),
  quietHours: z
    .string({ error: quietError })
    .refine((text) => parseQuietHours(text) !== null, { error: quietError })
    .optional()
    .meta({
      description:
        "Hours during which alerts are held back, in the project's time zone. They are sent as one message when the period ends. The second time may be on the next day.",
      fallback: "none",
    }),
});
type TargetTable = z.output<typeof targetSchema>;

const targetName = pattern(/^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$/, "letters, digits and . _ -");

/** The project's `[alerts.<name>]`. */
export const alertTargetsSchema = z
  .record(targetName, targetSchema, { error: "tables [alerts.<name>]" })
  .default({})
  .describe("A target that alerts are sent to: a failure reaches people without the dashboard.");

export function alertTargets(
  tables: Readonly<Record<string, TargetTable>>,
): readonly AlertTarget[] {
  return Object.entries(tables).map(([name, { type, to, answers, ...given }]) => ({
    name,
    type,
    credential: given.credential ?? usualCredential(type, answers.length > 0),
    to,
    answers: answers.map(String),
    quietHours: given.quietHours === undefined ? null : parseQuietHours(given.quietHours),
  }));
}

/** Only an app of Slack receives presses of buttons, not an incoming webhook. */
function usualCredential(type: AlertTargetType, isAnswered: boolean): string {
  return type === "slack" && isAnswered ? slackAppType : alertCredentialTypes[type];
}

/** The targets under the file's keys. */
export function writtenAlertTargets(targets: readonly AlertTarget[]): object {
  return Object.fromEntries(
    targets.map(({ name, type, credential: reference, to, answers, quietHours }) => {
      const recipients = to.length === 0 ? null : to;
      const quiet = quietHours === null ? null : writtenQuietHours(quietHours);
      const users = type === "telegram" ? answers.map(Number) : answers;
      const answering = users.length === 0 ? null : users;
      return [
        name,
        { type, credential: reference, to: recipients, answers: answering, quietHours: quiet },
      ];
    }),
  );
}

/** Reports keys that the type of a target needs, or does not use. */
export function checkAlertTargets(
  tables: Readonly<Record<string, TargetTable>>,
  diagnostics: Diagnostics,
): void {
  for (const [name, { type, credential: reference, to, answers }] of Object.entries(tables)) {
    const path = ["alerts", name];
    const isAnswered = answers.length > 0;
    const expected = usualCredential(type, isAnswered);
    const given = parseCredentialReference(reference ?? expected)?.type;
    if (given !== expected && `${type} ${given}` !== `slack ${slackAppType}`) {
      const found = `alerts.${name}.credential is ${formatValue(reference)}`;
      const forms = `${formatValue(expected)} or "${expected}:<instance>"`;
      const taker =
        isAnswered && type === "slack" ? "a slack target with answers" : `a ${type} target`;
      diagnostics.error([...path, "credential"], `${found}; ${taker} takes ${forms}`);
    }
    checkAnswers(type, answers, path, diagnostics);
    if (type === "email" && to.length === 0) {
      const message = `alerts.${name}.to is missing; expected a list of e-mail addresses, e.g. ["ops@example.com"]`;
      diagnostics.error(path, message);
    } else if (type !== "email" && to.length > 0) {
      const message = `alerts.${name}.to has no effect on a ${type} target; leave it out`;
      diagnostics.warn([...path, "to"], message);
    }
  }
}

function checkAnswers(
  type: AlertTargetType,
  answers: readonly (string | number)[],
  path: readonly string[],
  diagnostics: Diagnostics,
): void {
  const idTypes = { slack: "string", telegram: "number" } as const;
  const expected = type === "slack" || type === "telegram" ? idTypes[type] : null;
  const where = `${path.join(".")}.answers`;
  if (expected === null && answers.length > 0) {
    const why = "people answer with the link";
    diagnostics.warn([...path, "answers"], `${where} has no effect on a ${type} target; ${why}`);
  } else if (answers.some((one) => typeof one !== expected)) {
    const example = type === "slack" ? '["U0123ABC"]' : "[12345678]";
    diagnostics.error(
      [...path, "answers"],
      `${where} has IDs of another chat; expected ${example}`,
    );
  }
}

/** Null if the text is not a range of hours, or the range is empty. */
function parseQuietHours(text: string): QuietHours | null {
  const parts = quietPattern.exec(text)?.slice(1).map(Number);
  const [fromHour = 0, fromMinute = 0, untilHour = 0, untilMinute = 0] = parts ?? [];
  const hours = { from: fromHour * 60 + fromMinute, until: untilHour * 60 + untilMinute };
  return hours.from === hours.until ? null : hours;
}

function writtenQuietHours({ from, until }: QuietHours): string {
  return `${timeOfDay(from)}-${timeOfDay(until)}`;
}

function timeOfDay(minutes: number): string {
  const padded = (value: number): string => String(value).padStart(2, "0");
  return `${padded(Math.floor(minutes / 60))}:${padded(minutes % 60)}`;
}

function credentialList(): string {
  return Object.entries(alertCredentialTypes)
    .map(([type, expected]) => `${expected} (${type})`)
    .join(", ");
}
