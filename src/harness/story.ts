import type { LogKind } from "../contracts/log-kinds.ts";
import type { Emit } from "./harness.ts";
import { breakBefore, cut, cutStart } from "./message-writer.ts";

/** Characters of one `said` entry; a longer text becomes several, so that nothing is lost. */
const saidCharacters = 6000;
const outputCharacters = 8192;

/** Tokens of one turn or of a whole session; unknown values are left out. */
export interface StoryUsage {
  readonly tokens: number;
  readonly input?: number;
  readonly output?: number;
  readonly cacheRead?: number;
  readonly cacheWrite?: number;
  readonly costUsd?: number | null;
}

/** Tells a session: what the model said, which tools it called, what came back and what it used. */
export interface Story {
  said(text: string): void;
  toolCall(id: string, tool: string, input: unknown): void;
  /** The answer to the call with this id; `tool` is for one whose call was never told. */
  toolResult(id: string, output: string, isError: boolean, tool?: string): void;
  used(model: string, usage: StoryUsage): void;
  note(level: 30 | 40, msg: string): void;
}

interface Call {
  readonly tool: string;
  readonly at: number;
}

/** Writes a session as messages of the run. Whatever runs the session tells it in the same words. */
export function storyOf(emit: Emit): Story {
  const calls = new Map<string, Call>();
  const log = (kind: LogKind, level: 30 | 40, msg: string, fields: Record<string, unknown> = {}) =>
    emit({ type: "log", level, time: Date.now(), kind, msg, fields });
  return {
    said: (text) => {
      for (const piece of pieces(text)) log("said", 30, piece);
    },
    toolCall: (id, tool, input) => {
      calls.set(id, { tool, at: Date.now() });
      log("tool", 30, callText(tool, input), { tool, input });
    },
    toolResult: (id, output, isError, named = "tool") => {
      const { tool, at } = calls.get(id) ?? { tool: named, at: Date.now() };
      calls.delete(id);
      log("tool-result", isError ? 40 : 30, `${tool} ${isError ? "failed" : "done"}`, {
        tool,
        // A failure is explained at its end.
        output: (isError ? cutStart : cut)(output, outputCharacters),
        isError,
        durationMs: Date.now() - at,
      });
    },
    used: (model, usage) => log("usage", 30, `${usage.tokens} tokens`, { model, ...usage }),
    note: (level, msg) => log("run", level, msg),
  };
}

function pieces(text: string): readonly string[] {
  if (text.trim() === "") return [];
  if (text.length <= saidCharacters) return [text];
  const end = breakBefore(text, saidCharacters);
  return [text.slice(0, end), ...pieces(text.slice(end))];
}

/** What a call is about, in the words of file tools, shells and the scheduler's own tools. */
const telling = ["command", "path", "file_path", "resource", "agent"];

/** A tool call in one line: the tool's name, and the command of a shell, the path of a file tool, a lock's resource. */
function callText(tool: string, input: unknown): string {
  const fields = (input ?? {}) as Record<string, unknown>;
  const what = telling.map((name) => fields[name]).find((value) => typeof value === "string");
  return typeof what === "string" ? `${tool}: ${cut(what, 300)}` : tool;
}
