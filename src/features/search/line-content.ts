import { kindOf } from "../../foundation/contracts/log-kinds.ts";
import { plainText } from "../../foundation/contracts/plain-text.ts";
import type { SearchKind } from "../../foundation/contracts/search-kinds.ts";
import type { LogEntry } from "../../../streams/vocabulary.ts";

/** What of a log line can be found. */
export interface LineContent {
  /** Epoch ms. */
  readonly time: number;
  readonly kind: Exclude<SearchKind, "error">;
  readonly isError: boolean;
  readonly instanceId: string | null;
  readonly text: string;
}

/** How many characters of a tool's result are indexed: files that it read would be most of the index. */
const maxOutput = 4096;
/** What an agent nests deeper is not read: a line of brackets must not stop the index. */
const maxDepth = 20;
/** The last time that there is, epoch ms. */
const maxTime = 8.64e15;

/**
 * Null for a line without text of its own: it counts tokens, shows what the call's end has once more, or is no line of
 * a log writer's.
 */
export function contentOf(line: string): LineContent | null {
  const entry = parse(line);
  if (entry === null) return null;
  const kind = kindOf(entry) ?? "scheduler";
  if (kind === "usage" || kind === "tool-output") return null;
  const { time, level, instanceId, isError } = entry;
  return {
    time,
    kind,
    isError: level >= 50 || isError === true,
    instanceId: typeof instanceId === "string" ? instanceId : null,
    text: textOf(entry),
  };
}

function parse(line: string): LogEntry | null {
  try {
    const value = JSON.parse(line) as LogEntry | null;
    if (typeof value?.msg !== "string" || typeof value.time !== "number") return null;
    return Math.abs(value.time) <= maxTime ? value : null;
  } catch {
    return null;
  }
}

function textOf({ msg, tool, input, output, trigger }: LogEntry): string {
  const named = [...(typeof tool === "string" ? [tool] : []), ...textsIn(input, 0)];
  const returned = textsIn(output, 0).join("\n").slice(0, maxOutput);
  // The first line of a run has its prompt, or the title, repository and number of what started it.
  const started = textsIn(trigger, 0);
  const parts = [msg, ...named.filter((text) => !msg.includes(text)), ...started, returned];
  // Colours of a terminal would be a part of the words after them.
  return plainText(parts.filter((part) => part !== "").join("\n"));
}

/** The texts and numbers in a value: its JSON would make a word of each `\\n` and what follows. */
function textsIn(value: unknown, depth: number): string[] {
  if (typeof value === "string") return [value];
  if (typeof value === "number") return [String(value)];
  if (typeof value !== "object" || value === null || depth > maxDepth) return [];
  return Object.values(value).flatMap((one) => textsIn(one, depth + 1));
}
