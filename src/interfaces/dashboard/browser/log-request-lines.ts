import { durationText } from "../../../foundation/contracts/format.ts";
import { plainText } from "../../../foundation/contracts/plain-text.ts";
import { logRows } from "../../../foundation/contracts/run-requests/log-rows.ts";
import type {
  LogPart,
  LogParts,
  LogRow,
} from "../../../foundation/contracts/run-requests/log-rows.ts";
import type { Fields } from "../../../foundation/contracts/run-requests/row.ts";
import { create } from "./dom.ts";
import { clockTime } from "./format.ts";
import { outputBlock } from "./log-output.ts";

const rows: ReadonlyMap<string, LogRow> = new Map(Object.entries(logRows));

/** The request of a tool call in words; null for another tool. */
export function requestLine(tool: string, input: unknown): readonly HTMLElement[] | null {
  const row = rows.get(tool);
  return row === undefined ? null : elementsOf(row.request(isFields(input) ? input : {}));
}

/** The answer in words; null when it is not one that the words are for. `output` is one JSON object. */
export function answerLine(tool: string, output: string): readonly HTMLElement[] | null {
  const row = rows.get(tool);
  const answer = parsedFields(output);
  if (answer === null || row === undefined) return null;
  if (answer.ok === true) return elementsOf(row.answer(answer));
  return typeof answer.detail === "string"
    ? [create("span", "result failed", plainText(answer.detail))]
    : null;
}

type ShownPart = string | { readonly code: string } | { readonly block: string };

/** Words that follow each other are one element. */
function elementsOf(parts: LogParts): readonly HTMLElement[] {
  const shown: ShownPart[] = [];
  for (const part of parts.map(shownPart)) {
    const last = shown.at(-1);
    if (typeof part === "string" && typeof last === "string") shown.splice(-1, 1, last + part);
    else shown.push(part);
  }
  return shown.filter((part) => part !== "").map(partElement);
}

function shownPart(part: LogPart): ShownPart {
  if (typeof part === "string") return part;
  if ("code" in part) return { code: plainText(codeText(part.code)) };
  if ("block" in part) return { block: plainText(blockText(part.block)) };
  if ("seconds" in part) return durationText(part.seconds * 1000);
  return "time" in part ? timeOfDay(part.time) : plainText(String(part.text));
}

function partElement(part: ShownPart): HTMLElement {
  if (typeof part === "string") return create("span", "words", part);
  return "code" in part ? create("code", "input", part.code) : outputBlock(part.block);
}

function codeText(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value ?? null);
}

/** JSON is shown with its lines, also where it is in a text. */
function blockText(value: unknown): string {
  const json = typeof value === "string" ? parsedFields(value) : value;
  return json === null || json === undefined ? String(value) : JSON.stringify(json, null, 2);
}

function parsedFields(text: string): Fields | null {
  try {
    const value: unknown = JSON.parse(text);
    return isFields(value) ? value : null;
  } catch {
    return null;
  }
}

function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null;
}

function timeOfDay(iso: unknown): string {
  const time = Date.parse(String(iso));
  return Number.isNaN(time) ? "its end" : clockTime(time);
}
