import { z } from "zod";
import { alertTargetTypes } from "../../../streams/alert-options.ts";
import type { AlertTarget, QuietHours } from "../../../streams/alert-options.ts";
import { parseCredentialReference } from "../contracts/credential-reference.ts";
import type { Diagnostics } from "./validate.ts";
import { choice, credential, list, pattern, table, alertCredentialTypes } from "./fields.ts";
import { formatValue } from "./format-value.ts";

const quietError = 'two different times of day, e.g. "22:00-07:00"';
const quietPattern = /^([01]\d|2[0-3]):([0-5]\d)-([01]\d|2[0-3]):([0-5]\d)$/;

// \x5b is "[", which unescaped begins a nested set in the regular expressions of some editors.
const address = pattern(
  /^[^\s@<>,;:"()\x5b\]\\]{1,64}@[A-Za-z0-9-]+(\.[A-Za-z0-9-]+)*$/,
  'an e-mail address, e.g. "ops@example.com"',
);

const targetSchema = table({
  type: choice(alertTargetTypes).describe("The service that alerts are sent to."),
  credential: credential()
    .optional()
    .describe(
      `The credential with its address and secrets. Without it the default instance of the type's own: ${credentialList()}.`,
    ),
  to: list(address, 'a list of e-mail addresses, e.g. ["ops@example.com"]')
    .default([])
    .describe('The recipients; only "email" has and needs them.'),
  quietHours: z
    .string({ error: quietError })
    .refine((text) => parseQuietHours(text) !== null, { error: quietError })
    .optional()
    .describe(
      "When alerts wait, by the project's time zone; at its end they are sent as one. The second time may be of the next day.",
    ),
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
  return Object.entries(tables).map(([name, { type, to, ...given }]) => ({
    name,
    type,
    credential: given.credential ?? alertCredentialTypes[type],
    to,
    quietHours: given.quietHours === undefined ? null : parseQuietHours(given.quietHours),
  }));
}

/** The targets under the file's keys. */
export function writtenAlertTargets(targets: readonly AlertTarget[]): object {
  return Object.fromEntries(
    targets.map(({ name, type, credential: reference, to, quietHours }) => {
      const recipients = to.length === 0 ? null : to;
      const quiet = quietHours === null ? null : writtenQuietHours(quietHours);
      return [name, { type, credential: reference, to: recipients, quietHours: quiet }];
    }),
  );
}

/** Reports keys that the type of a target needs, or does not use. */
export function checkAlertTargets(
  tables: Readonly<Record<string, TargetTable>>,
  diagnostics: Diagnostics,
): void {
  for (const [name, { type, credential: reference, to }] of Object.entries(tables)) {
    const path = ["alerts", name];
    const expected = alertCredentialTypes[type];
    if (reference !== undefined && parseCredentialReference(reference)?.type !== expected) {
      const found = `alerts.${name}.credential is ${formatValue(reference)}`;
      const forms = `${formatValue(expected)} or "${expected}:<instance>"`;
      diagnostics.error([...path, "credential"], `${found}; a ${type} target takes ${forms}`);
    }
    if (type === "email" && to.length === 0) {
      const message = `alerts.${name}.to is missing; expected a list of e-mail addresses, e.g. ["ops@example.com"]`;
      diagnostics.error(path, message);
    } else if (type !== "email" && to.length > 0) {
      const message = `alerts.${name}.to has no effect on a ${type} target; leave it out`;
      diagnostics.warn([...path, "to"], message);
    }
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
