import { durationText } from "../../../../streams/duration-text.ts";
import type { AuditEntryView } from "../../../features/people/audit-report.ts";
import type { QuestionView } from "../../../foundation/contracts/question-views.ts";
import { answersText, shortId, whoText } from "../../../foundation/contracts/questions.ts";
import { wrap } from "../terminal/fit.ts";
import { localTime, plain, plainLine } from "../terminal/format.ts";
import { renderTable, titled } from "../terminal/table.ts";
import type { StatusStyle } from "./render-status.ts";

/**
 * The open questions: off a terminal a line each, on one with the whole question and its answers below, because people
 * decide by them.
 */
export function renderOpen(questions: readonly QuestionView[], style: StatusStyle): string {
  const { colors, now, columns } = style;
  const rows = questions.map(({ id, agent, at, until, form, prompt }) => [
    colors.bold(shortId(id)),
    agent,
    durationText(Math.max(0, now - Date.parse(at))),
    timeText(until, style),
    ...(columns === null ? [plainLine(answersText(form)), plainLine(prompt)] : []),
  ]);
  const piped = columns === null ? ["Answer…", "Question…"] : [];
  const table = renderTable(titled("Id", "Agent", "Waits", "Until", ...piped), rows, style);
  if (columns === null) return table;
  const indented = (text: string): string[] =>
    text.split("\n").flatMap((line) => wrap(line, columns - 2).map((part) => `  ${part}`));
  const below = questions.map(({ prompt, form }) => [
    ...indented(plain(prompt)),
    ...indented(plainLine(answersText(form))).map(colors.dim),
  ]);
  const [head = "", ...lines] = table.split("\n");
  return [head, ...lines.flatMap((line, index) => [line, ...(below[index] ?? [])])].join("\n");
}

/** All questions with their answers or states, and who answered. */
export function renderAll(questions: readonly QuestionView[], style: StatusStyle): string {
  const rows = questions.map(({ id, agent, at, answeredAt, by, prompt, ...question }) => [
    shortId(id),
    agent,
    timeText(answeredAt ?? at, style),
    answerCell(question, style),
    by === null ? "" : plainLine(whoText(by)),
    plainLine(prompt),
  ]);
  return renderTable(titled("Id", "Agent", "When", "Answer…", "By", "Question…"), rows, style);
}

function answerCell(
  { state, answer }: Pick<QuestionView, "state" | "answer">,
  { colors }: StatusStyle,
): string {
  if (answer === null) return state === "open" ? colors.yellow(state) : colors.dim(state);
  const text = plainLine(String(answer));
  return state === "expired" ? `${text} ${colors.dim("(default)")}` : text;
}

export function renderAudit(entries: readonly AuditEntryView[], style: StatusStyle): string {
  const rows = entries.map(({ at, by, act, agent, instanceId, detail }) => [
    timeText(at, style),
    plainLine(whoText(by)),
    act,
    instanceId ?? agent ?? "",
    plainLine(detail),
  ]);
  return renderTable(titled("When", "Who…", "Act", "Agent or run", "Detail…"), rows, style);
}

function timeText(iso: string, { now }: StatusStyle): string {
  return localTime(Date.parse(iso), now);
}
