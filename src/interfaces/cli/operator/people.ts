import type { Act } from "../../../foundation/contracts/audit-acts.ts";
import type { QuestionView } from "../../../foundation/contracts/question-views.ts";
import { answersText, heldBy, shortId, whoText } from "../../../foundation/contracts/questions.ts";
import { counted } from "../../../foundation/contracts/format.ts";
import { Problem, usageError } from "../../../foundation/errors.ts";
import type { Context } from "../context.ts";
import { queryTime } from "../options.ts";
import { plainLine, localTime, plain } from "../terminal/format.ts";
import { openPrompts } from "../terminal/prompts.ts";
import type { Client } from "./client.ts";
import { connect, explained } from "./connect.ts";
import { askProject, mustKnowAgent } from "./reader.ts";
import { durationText } from "../../../../streams/duration-text.ts";
import type { AuditEntryView } from "../../../features/people/audit-report.ts";
import { wrap } from "../terminal/fit.ts";
import { renderTable, titled } from "../terminal/table.ts";
import { renderDifference } from "../status/render-run.ts";
import type { StatusStyle } from "../status/render-status.ts";

interface QuestionsOptions {
  readonly agent?: string;
  readonly all?: true;
  readonly lines: number;
}

/** Prints the open questions of runs; with `all` also those that have ended. */
export async function showQuestions(context: Context, options: QuestionsOptions): Promise<void> {
  const { out } = context;
  const { agent, all = false, lines: limit } = options;
  const found = await askProject(context, async (reader) => {
    const page = await reader.perform("GET /api/questions", {
      state: all ? undefined : "open",
      agent,
      limit,
    });
    if (agent !== undefined && page.questions.length === 0) await mustKnowAgent(reader, agent);
    return page;
  });
  if (out.json) return out.document(found);
  const { questions } = found;
  if (questions.length === 0)
    return out.note(all ? "no run has asked a person yet" : "no run waits for an answer");
  const style = { ...out, now: Date.now() };
  out.data(all ? renderAll(questions, style) : renderOpen(questions, style));
  if (!all && out.columns !== null) out.note("al answer <id> answers one");
  if (found.next !== null) out.note(`more than ${counted(limit, "question")}; -n shows more`);
}

/** Answers a question; without an answer, a person at the terminal is asked for it. */
export async function answerQuestion(
  context: Context,
  id: string,
  given: string | undefined,
): Promise<void> {
  const client = await connect(context);
  const found = await questionOf(client, id);
  const isWhole = given !== undefined || found.difference?.isCut !== true;
  const question = isWhole
    ? found
    : await client.perform("GET /api/questions/:id", { id: found.id });
  const text = given ?? (await askedAnswer(context, question));
  const asked = client.perform("POST /api/questions/:id/answer", { id: question.id, answer: text });
  const answered = await explained(asked, ["answered", "malformed"], {
    hint: `the question: ${plainLine(promptOf(question))}`,
  });
  const shown = plainLine(String(answered.answer));
  const after =
    question.kind === "memory"
      ? `memory ${plainLine(question.subject)}`
      : `${answered.instanceId} continues`;
  context.out.answer(answered, `answered ${shown}; ${after}`);
}

/** The prompt, with the callers whose gates hold the request. */
function promptOf(question: QuestionView): string {
  const held = heldBy(question);
  return held === null ? question.prompt : `${question.prompt}\n(held by ${held})`;
}

async function askedAnswer(context: Context, question: QuestionView): Promise<string> {
  const message = plainLine(promptOf(question));
  const expected = plainLine(answersText(question.form));
  const prompts = await openPrompts(context);
  const { difference } = question;
  if (prompts !== null && difference !== undefined) {
    context.out.data(renderDifference(difference.text, context.out.colors));
  }
  if (prompts !== null) return prompts.text({ message: `${message} (${expected})` });
  throw usageError(`the answer is missing: ${expected}`, `the question: ${message}`);
}

const uuidLength = 36;

/** A question by its id; of the latest ones also by a unique end of it, or by its run or agent with only one open question. */
async function questionOf(client: Client, id: string): Promise<QuestionView> {
  const hint = "List the open questions with `al questions`.";
  if (id.length === uuidLength) {
    return explained(client.perform("GET /api/questions/:id", { id }), ["unknown_question"], {
      hint,
    });
  }
  for (const state of ["open", "settled"] as const) {
    const { questions } = await client.perform("GET /api/questions", { state, limit: 200 });
    const meant = questions.filter(
      (one) => [one.instanceId, one.agent].includes(id) || one.id.endsWith(id),
    );
    const [first, ...others] = meant;
    if (others.length > 0 && state === "open") throw ambiguous(id, meant);
    if (first !== undefined) return first;
  }
  throw new Problem("unknown_question", `there is no question "${id}"`, hint);
}

function ambiguous(id: string, meant: readonly QuestionView[]): Problem {
  const ids = meant.slice(0, 5).map((one) => shortId(one.id));
  return usageError(
    `${counted(meant.length, "question")} match ${id}`,
    `Name one: ${ids.join(", ")}.`,
  );
}

interface AuditOptions {
  readonly agent?: string;
  readonly by?: string;
  readonly act?: Act["act"];
  /** Epoch ms. */
  readonly since?: number;
  readonly lines: number;
}

/** Prints the acts of people, the latest first. */
export async function showAudit(context: Context, options: AuditOptions): Promise<void> {
  const { out } = context;
  const { lines: limit, since, ...filter } = options;
  const found = await askProject(context, async (reader) => {
    const page = await reader.perform("GET /api/audit", {
      ...filter,
      since: queryTime(since),
      limit,
    });
    const { agent } = filter;
    if (agent !== undefined && page.entries.length === 0) await mustKnowAgent(reader, agent);
    return page;
  });
  if (out.json) return out.document(found);
  if (found.entries.length === 0) return out.note("no acts match");
  out.data(renderAudit(found.entries, { ...out, now: Date.now() }));
  if (found.next === null) return;
  const rest = "-n shows up to 200, the dashboard's audit trail shows all";
  out.note(`more than ${counted(limit, "act")}; ${rest}`);
}

/**
 * The open questions: off a terminal a line each, on one with the whole question and its answers below, because people
 * decide by them.
 */
export function renderOpen(questions: readonly QuestionView[], style: StatusStyle): string {
  const { colors, now, columns } = style;
  const rows = questions.map((question) => [
    colors.bold(shortId(question.id)),
    question.agent,
    durationText(Math.max(0, now - Date.parse(question.at))),
    localTime(question.until, style.now),
    ...(columns === null
      ? [plainLine(answersText(question.form)), plainLine(promptOf(question))]
      : []),
  ]);
  const piped = columns === null ? ["Answer…", "Question…"] : [];
  const indented = (text: string): string[] =>
    text.split("\n").flatMap((line) => wrap(line, (columns ?? 0) - 2).map((part) => `  ${part}`));
  const below = questions.map((question) => [
    ...indented(plain(promptOf(question))),
    ...differenceLines(question, colors),
    ...indented(plainLine(answersText(question.form))).map(colors.dim),
  ]);
  const titles = titled("Id", "Agent", "Waits", "Until", ...piped);
  return renderTable(titles, rows, style, columns === null ? [] : below);
}

function differenceLines(
  { id, difference }: QuestionView,
  colors: StatusStyle["colors"],
): readonly string[] {
  if (difference === undefined) return [];
  const lines = renderDifference(difference.text, colors).split("\n");
  const more = difference.isCut ? [`… al answer ${shortId(id)} shows all of it`] : [];
  return [...lines, ...more].map((line) => `  ${line}`);
}

/** All questions with their answers or states, and who answered. */
export function renderAll(questions: readonly QuestionView[], style: StatusStyle): string {
  const rows = questions.map(({ id, agent, at, answeredAt, by, prompt, ...question }) => [
    shortId(id),
    agent,
    localTime(answeredAt ?? at, style.now),
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
    localTime(at, style.now),
    plainLine(whoText(by)),
    act,
    instanceId ?? agent ?? "",
    plainLine(detail),
  ]);
  return renderTable(titled("When", "Who…", "Act", "Agent or run", "Detail…"), rows, style);
}
