import { attemptsText, topicWords } from "../../../features/alerts/alert-words.ts";
import type {
  AlertDeliveryView,
  AlertsReport,
  AlertTargetView,
  OpenAlertView,
} from "../../../features/alerts/alerts-report.ts";
import { cut } from "../terminal/fit.ts";
import { localTime, plainLine } from "../terminal/format.ts";
import type { Colors } from "../terminal/output.ts";
import { renderTable, titled } from "../terminal/table.ts";
import type { StatusStyle } from "./render-status.ts";

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
    timeText(since, style),
    count > 1 ? String(count) : "",
    plainLine(reason ?? ""),
  ]);
  const columns = titled("Wrong now", "Agent", "Since", "Count", "Why…");
  const below = open.map(({ ack }) => {
    if (ack === null) return [];
    const { by, at, until } = ack;
    const [how, when] = until === null ? ["acknowledged", at] : ["snoozed", until];
    const time = `${until === null ? "at" : "until"} ${timeText(when, style)}`;
    return [style.colors.dim(`  ${how} by ${plainLine(by)} ${time}`)];
  });
  return withLinesBelow(renderTable(columns, rows, style), below);
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
  return withLinesBelow(renderTable(columns, rows, style), below);
}

function deliveryTable(deliveries: readonly AlertDeliveryView[], style: StatusStyle): string {
  const rows = deliveries.map(({ at, title, reason, target, state }) => [
    timeText(at, style),
    plainLine(reason === null ? title : `${title}: ${reason}`),
    target,
    deliveryColors(style.colors)[state](state),
  ]);
  const columns = titled("Time", "Alert…", "Target", "State");
  return withLinesBelow(
    renderTable(columns, rows, style),
    deliveries.map((one) => linesBelow(one, style)),
  );
}

/** State of a delivery's attempts, and the command that sends it again, if there is anything to report. */
function linesBelow(delivery: AlertDeliveryView, style: StatusStyle): readonly string[] {
  const { state, attempts, nextAt, lastError, id } = delivery;
  const { colors, columns } = style;
  if (state === "sent") return [];
  const next = nextAt === null ? "" : timeText(nextAt, style);
  const when = [attemptsText(delivery), next].filter((part) => part !== "").join(" at ");
  const error = attempts === 0 || lastError === null ? "" : `: ${plainLine(lastError)}`;
  const line = `  ${attempts === 0 ? "at " : ""}${when}${error}`;
  const retry = attempts === 0 ? [] : [colors.dim(`  al alerts retry ${id}`)];
  return [colors.dim(columns === null ? line : cut(line, columns)), ...retry];
}

function withLinesBelow(text: string, below: readonly (readonly string[])[]): string {
  const [head = "", ...lines] = text.split("\n");
  return [head, ...lines.flatMap((line, index) => [line, ...(below[index] ?? [])])].join("\n");
}

function targetColors({ green, yellow, red }: Colors) {
  return { ok: green, failing: yellow, off: red };
}

function deliveryColors({ green, yellow, red }: Colors) {
  return { sent: green, waiting: yellow, dead: red };
}

function timeText(iso: string, { now }: StatusStyle): string {
  return localTime(Date.parse(iso), now);
}
