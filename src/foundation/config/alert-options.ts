import { z } from "zod";
import type { AlertOptions, AlertTarget } from "../../../streams/alert-options.ts";
import { didYouMean } from "../contracts/did-you-mean.ts";
import { durationText } from "../../../streams/duration-text.ts";
import { agentKey, factOf } from "./config-key.ts";
import type { Diagnostics } from "./validate.ts";
import { describeKeys, formatNames, formatValue } from "./format-value.ts";
import { parseDuration, writtenDuration, duration, integer, list, table, text } from "./fields.ts";

const targets = list(text(), 'a list of names of [alerts.<name>], e.g. ["ops"], or [] for none');
const after = integer("failures", 1, 1000);
const interval = duration("a length of time");

/** The project's `[alert]`. */
export const projectAlertSchema = table({
  to: targets.optional().meta({
    description: "Alert targets; [] turns alerts off.",
    fallback: "all targets of the project",
  }),
  after: after.default(1).describe("How many consecutive failures of an agent raise an alert."),
  remind: interval
    .default("24h")
    .describe("How often an alert is repeated while its cause persists."),
  noSuccessFor: interval
    .default("never")
    .describe("Raise an alert if an agent has no successful run for this long."),
});
type ProjectAlert = z.output<typeof projectAlertSchema>;

export function projectAlert(given: ProjectAlert): AlertOptions {
  return {
    to: given.to ?? null,
    after: given.after,
    remindMs: parseDuration(given.remind) ?? null,
    noSuccessForMs: parseDuration(given.noSuccessFor) ?? null,
  };
}

/** An agent's own `[alert]`. */
export const alertKey = agentKey({
  inFile: "alert",
  field: table({
    to: targets.optional().meta({
      description: "Alert targets of the agent; [] turns its alerts off.",
      fallback: "the project's `to`",
    }),
    after: after.optional().meta({
      description: "How many consecutive failures raise an alert.",
      fallback: "the project's `after`",
    }),
    remind: interval
      .optional()
      .describe("How often an alert is repeated while its cause persists."),
    noSuccessFor: interval.optional().meta({
      description: "Raise an alert if the agent has no successful run for this long.",
      fallback: "the project's `noSuccessFor`",
    }),
  })
    .prefault({})
    .describe(
      "Who is alerted when the agent fails, and when. Keys that are not set default to the project's `[alert]`.",
    ),
  resolve: (given, { project: { alert: all, alerts }, diagnostics }): AlertOptions => {
    checkAlert(given, alerts, diagnostics);
    return {
      to: given.to ?? all.to,
      after: given.after ?? all.after,
      remindMs: resolved(given.remind, all.remindMs),
      noSuccessForMs: resolved(given.noSuccessFor, all.noSuccessForMs),
    };
  },
  written: writtenAlert,
  value: z.object({
    to: z.array(z.string()).readonly().nullable(),
    after: z.int(),
    remindMs: z.number().nullable(),
    noSuccessForMs: z.number().nullable(),
  }),
  // Alert options do not affect a run.
  canonical: () => null,
  change: describeAlerts,
  facts: (options) => factOf("Alerts", alertTexts(options)),
});

function resolved(given: string | undefined, otherwise: number | null): number | null {
  return given === undefined ? otherwise : (parseDuration(given) ?? null);
}

/** Options under the file's keys. */
export function writtenAlert({ to, after: failures, ...ms }: AlertOptions): object {
  const remind = writtenDuration(ms.remindMs);
  return { to, after: failures, remind, noSuccessFor: writtenDuration(ms.noSuccessForMs) };
}

/** Reports names of targets that the project does not have. */
export function checkAlert(
  { to = [] }: { readonly to?: readonly string[] | undefined },
  known: readonly AlertTarget[],
  diagnostics: Diagnostics,
): void {
  const names = known.map(({ name }) => name);
  for (const [index, name] of to.entries()) {
    if (names.includes(name)) continue;
    const advice =
      names.length === 0
        ? `the project's config.toml has none; add [alerts.${name}] there`
        : `expected one of ${formatNames(names)}${didYouMean(name, names)}`;
    const message = `target ${formatValue(name)} of alerts is not defined; ${advice}`;
    diagnostics.error(["alert", "to", index], message);
  }
}

/** `alert.after 1 → 3`, by the file's keys. */
export function describeAlerts(before: AlertOptions, now: AlertOptions): string {
  return describeKeys("alert", writtenAlert(before), writtenAlert(now));
}

function alertTexts({ to, after: failures, remindMs, noSuccessForMs }: AlertOptions): string[] {
  if (to?.length === 0) return ["none"];
  return [
    to === null ? "to all targets" : `to ${to.join(", ")}`,
    failures === 1 ? "after each failure" : `after ${failures} failures in a row`,
    ...(remindMs === null ? [] : [`repeated every ${durationText(remindMs)}`]),
    ...(noSuccessForMs === null ? [] : [`without a success for ${durationText(noSuccessForMs)}`]),
  ];
}
