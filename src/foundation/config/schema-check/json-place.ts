import { messageOf } from "../../errors.ts";

/** A place in a text, both from 1. */
export interface Place {
  readonly line: number;
  readonly column: number;
}

/** Where JSON.parse stopped. */
export function placeOfSyntaxError(text: string, error: unknown): Place {
  const [, line, column] = /\(line (\d+) column (\d+)\)/.exec(messageOf(error)) ?? [];
  if (line !== undefined) return { line: Number(line), column: Number(column) };
  return placeAt(text, isUnexpectedToken(text) ? offsetOfToken(text) : text.length);
}

/** JSON.parse does not say where an unexpected token is: it is at the end of the shortest text that has one. */
function offsetOfToken(text: string): number {
  let [without, length] = [0, text.length];
  while (length - without > 1) {
    const middle = Math.floor((without + length) / 2);
    if (isUnexpectedToken(text.slice(0, middle))) length = middle;
    else without = middle;
  }
  return length - 1;
}

function isUnexpectedToken(text: string): boolean {
  try {
    JSON.parse(text);
    return false;
  } catch (error) {
    return messageOf(error).startsWith("Unexpected token");
  }
}

/** An object or a list that the walk through a text is in. */
interface Level {
  readonly isObject: boolean;
  /** The name of its current member. */
  name: string | number;
  /** Whether the next token is a member's name. */
  isAtName: boolean;
}

const tokens = /"(?:[^"\\]|\\.)*"|[[\]{},:]|[^\s,:[\]{}"]+/g;

/** Where the value of a JSON pointer begins in a valid JSON text; its start for a value that is not there. */
export function placeOfPointer(text: string, pointer: string): Place {
  const levels: Level[] = [];
  for (const { 0: token, index } of text.matchAll(tokens)) {
    const level = levels.at(-1);
    if (/^[\]}]$/.test(token)) levels.pop();
    else if (level !== undefined && isWithin(level, token)) step(level, token);
    else if (pointerOf(levels) === pointer) return placeAt(text, index);
    else if (token === "{") levels.push({ isObject: true, name: "", isAtName: true });
    else if (token === "[") levels.push({ isObject: false, name: 0, isAtName: false });
  }
  return placeAt(text, 0);
}

/** Whether a token is no value: a separator, or the name of a member. */
function isWithin({ isAtName }: Level, token: string): boolean {
  return isAtName || token === "," || token === ":";
}

function step(level: Level, token: string): void {
  if (token === ":") return;
  level.isAtName = level.isObject && token === ",";
  if (token !== ",") level.name = JSON.parse(token) as string;
  else if (typeof level.name === "number") level.name++;
}

function pointerOf(levels: readonly Level[]): string {
  return levels.map(({ name }) => `/${pointerPart(name)}`).join("");
}

/** A member's name as a JSON pointer has it. */
export function pointerPart(name: string | number): string {
  return String(name).replaceAll("~", "~0").replaceAll("/", "~1");
}

function placeAt(text: string, offset: number): Place {
  const lines = text.slice(0, offset).split("\n");
  return { line: lines.length, column: (lines.at(-1)?.length ?? 0) + 1 };
}
