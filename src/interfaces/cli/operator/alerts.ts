import { userInfo } from "node:os";
import { isoTime } from "../../../../streams/iso-times.ts";
import type { DeliveryState } from "../../../features/alerts/rules/alert.ts";
import type {
  AlertsReport,
  AlertDeliveryView,
  AlertTargetView,
  OpenAlertView,
} from "../../../features/alerts/alerts-report.ts";
import { counted } from "../../../foundation/contracts/format.ts";
import { hasCode, usageError } from "../../../foundation/errors.ts";
import type { Context } from "../context.ts";
import { localTime, plainLine } from "../terminal/format.ts";
import { agentNames, connect, explained, unknownAgent } from "./connect.ts";
import { attemptsText, topicWords } from "../../../features/alerts/alert-words.ts";
import { wrap } from "../terminal/fit.ts";
import type { Colors } from "../terminal/output.ts";
import { renderTable, titled } from "../terminal/table.ts";
import type { StatusStyle } from "../status/render-status.ts";

export interface ListOptions {
  readonly state?: DeliveryState;
  readonly target?: string;
  readonly lines: number;
}

/** A target times out after 15 s; then the answer is still to come. */
const testTimeoutMs = 30_000;

/** Prints the open alerts, the targets, and the newest deliveries; with a filter only the deliveries. */
export async function listAlerts(context: Context, options: ListOptions): Promise<void> {
  const { out } = context;
  const { state, target, lines } = options;
  const client = await connect(context);
  const report = await client.perform("GET /api/alerts", { limit: lines, state, target });
  if (out.json) return out.document(report);
  const isFiltered = state !== undefined || target !== undefined;
  const style = { ...out, now: Date.now() };
  const text = renderAlerts(isFiltered ? { ...report, open: [], targets: [] } : report, style);
  if (text !== "") out.data(text);
  for (const note of isFiltered ? filteredNotes(report) : notes(report)) out.note(note);
}

function filteredNotes({ deliveries }: AlertsReport): readonly string[] {
  return deliveries.length === 0 ? ["no alerts match these filters"] : [];
}

function notes({ open, targets, deliveries }: AlertsReport): readonly string[] {
  const noTarget = "alerts have no target yet; add [alerts.<name>] to config.toml";
  return [
    ...(open.length === 0 ? ["nothing is wrong now"] : []),
    ...(targets.length === 0 ? [noTarget] : []),
    ...(targets.length > 0 && deliveries.length === 0 ? ["no alert was sent yet"] : []),
  ];
}

/** Ends the reminders of open alerts of an agent or the project until they are resolved; `undo` resumes them. */
export async function acknowledge(
  context: Context,
  scope: string,
  { undo, until }: { readonly undo?: true; readonly until?: number },
): Promise<void> {
  const client = await connect(context);
  const repeatedAt = until === undefined ? undefined : isoTime(until);
  const by = undo ? undefined : userName();
  const agent = scope === "project" ? null : scope;
  const asked = client.perform("POST /api/alerts/ack", { agent, by, until: repeatedAt, undo });
  const answer = await explained(asked, ["unknown_alert"], {
    hint: "List the open alerts with `al alerts`.",
  }).catch(async (error: unknown) => {
    const names =
      agent === null || !hasCode(error, "unknown_alert") ? null : await agentNames(client);
    throw names === null || names.includes(scope) ? error : unknownAgent(scope, names);
  });
  const end = until === undefined ? "it is resolved" : localTime(until, Date.now());
  const done = undo ? "reminders are sent again" : `no reminders until ${end}`;
  context.out.answer(answer, `${scope}: ${done}`);
}

/** Ends the reminders of open alerts until a moment, epoch ms. */
export function snooze(context: Context, scope: string, until: number): Promise<void> {
  return acknowledge(context, scope, { until });
}

/** The name of the OS user; undefined if the user has no name, as in some containers. */
function userName(): string | undefined {
  try {
    return userInfo().username;
  } catch {
    return undefined;
  }
}

/** Sends a test to a target, and prints whether it accepted. */
export async function testTarget(context: Context, target: string): Promise<void> {
  const { out } = context;
  const client = await connect(context);
  const options = { timeoutMs: testTimeoutMs };
  const answer = await client.perform(
    "POST /api/alerts/targets/:name/test",
    { name: target },
    options,
  );
  if (!answer.accepted) process.exitCode = 1;
  if (out.json) return out.document(answer);
  if (answer.accepted) return out.data(`${target} accepted the test`);
  out.note(`${target} did not accept the test: ${plainLine(answer.error ?? "")}`);
}

/** Sends one delivery again, or all dead ones. */
export async function retryAlerts(
  context: Context,
  id: string | undefined,
  { all }: { readonly all?: true },
): Promise<void> {
  const { out } = context;
  const hint = "List undelivered alerts with `al alerts list --state dead`.";
  if ((id === undefined) === (all === undefined)) {
    throw usageError("expected the id of an alert, or --all", hint);
  }
  const client = await connect(context);
  if (id !== undefined) {
    const asked = client.perform("POST /api/alerts/:id/retry", { id });
    return out.answer(await explained(asked, ["unknown_delivery"], { hint }), `${id} is due now`);
  }
  const answer = await client.perform("POST /api/alerts/retry", {});
  if (answer.retried === 0 && !out.json) return out.note("no alert is undelivered");
  out.answer(answer, `${counted(answer.retried, "alert")} due now`);
}

type Report = Pick<AlertsReport, "open" | "targets" | "deliveries">;

/** The open alerts, the targets and the deliveries, each as a table unless it is empty. */
export function renderAlerts(report: Report, style: StatusStyle): string {
  const { open, targets, deliveries } = report;
  return [
    ...(open.length === 0 ? [] : [openTable(open, style)]),
    ...(targets.length === 0 ? [] : [targetTable(targets, style)]),
    ...(deliveries.length === 0 ? [] : [deliveryTable(deliveries, style)]),
  ].join("\n\n");
}

function openTable(open: readonly OpenAlertView[], style: StatusStyle): string {
  const rows = open.map(({ topic, agent, since, count, reason }) => [
    style.colors.red(topicWords[topic]),
    agent ?? "project",
    localTime(since, style.now),
    count > 1 ? String(count) : "",
    ...(style.columns === null ? [plainLine(reason ?? "")] : []),
  ]);
  const why = style.columns === null ? ["Why…"] : [];
  const below = open.map(({ ack, reason }) => [
    ...(style.columns === null || reason === null ? [] : indented(reason, style.columns)),
    ...(ack === null ? [] : [ackText(ack, style)]),
  ]);
  return renderTable(titled("Wrong now", "Agent", "Since", "Count", ...why), rows, style, below);
}

function ackText({ by, at, until }: NonNullable<OpenAlertView["ack"]>, style: StatusStyle): string {
  const [how, when] = until === null ? ["acknowledged", at] : ["snoozed", until];
  const time = `${until === null ? "at" : "until"} ${localTime(when, style.now)}`;
  return style.colors.dim(`  ${how} by ${plainLine(by)} ${time}`);
}

/** A text below a row, in full: people act on it. */
function indented(text: string, columns: number): readonly string[] {
  return wrap(plainLine(text), columns - 2).map((line) => `  ${line}`);
}

function targetTable(targets: readonly AlertTargetView[], style: StatusStyle): string {
  const { colors } = style;
  const rows = targets.map(({ name, type, state, waiting, dead, lastError }) => [
    name,
    type,
    targetColors(colors)[state](state),
    String(waiting),
    dead > 0 ? colors.red(String(dead)) : "0",
    plainLine(lastError ?? ""),
  ]);
  const columns = titled("Target", "Type", "State", "Waiting", "Dead", "Last error…");
  const below = targets.map(({ name, state }) =>
    state === "off" ? [colors.dim(`  al alerts test ${name}: on again once it accepts`)] : [],
  );
  return renderTable(columns, rows, style, below);
}

function deliveryTable(deliveries: readonly AlertDeliveryView[], style: StatusStyle): string {
  const rows = deliveries.map(({ at, title, reason, target, state }) => [
    localTime(at, style.now),
    plainLine(reason === null ? title : `${title}: ${reason}`),
    target,
    deliveryColors(style.colors)[state](state),
  ]);
  const columns = titled("Time", "Alert…", "Target", "State");
  const below = deliveries.map((one) => linesBelow(one, style));
  return renderTable(columns, rows, style, below);
}

/** State of a delivery's attempts, and the command that sends it again, if there is anything to report. */
function linesBelow(delivery: AlertDeliveryView, style: StatusStyle): readonly string[] {
  const { state, attempts, nextAt, lastError, id } = delivery;
  const { colors, columns } = style;
  if (state === "sent") return [];
  const next = nextAt === null ? "" : localTime(nextAt, style.now);
  const when = [attemptsText(delivery), next].filter((part) => part !== "").join(" at ");
  const error = attempts === 0 || lastError === null ? "" : `: ${plainLine(lastError)}`;
  const line = `${attempts === 0 ? "at " : ""}${when}${error}`;
  const retry = attempts === 0 ? [] : [colors.dim(`  al alerts retry ${id}`)];
  const lines = columns === null ? [`  ${line}`] : indented(line, columns);
  return [...lines.map(colors.dim), ...retry];
}

function targetColors({ green, yellow, red }: Colors) {
  return { ok: green, failing: yellow, off: red };
}

function deliveryColors({ green, yellow, red }: Colors) {
  return { sent: green, waiting: yellow, dead: red };
}
