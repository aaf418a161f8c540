import type { LogKind } from "../../foundation/contracts/log-kinds.ts";
import { logTo } from "./harness.ts";
import type { Emit } from "./harness.ts";
import { liveCall } from "./live-call.ts";
import type { CallProgress, LiveCall } from "./live-call.ts";
import { breakBefore } from "./message-writer.ts";

/** Characters of one `assistant` entry; a longer text becomes several, so that nothing is lost. */
const assistantCharacters = 6000;
/** Characters of output that one session logs of calls while they run; their results are logged anyway. */
export const liveCharacters = 4 * 1024 * 1024;

/** Tokens of one turn or of a whole session; unknown values are left out. */
export interface TranscriptUsage {
  readonly tokens: number;
  readonly input?: number;
  readonly output?: number;
  readonly cacheRead?: number;
  readonly cacheWrite?: number;
  readonly costUsd?: number | null;
}

/** Logs a session: the model's texts, its tool calls and their results, and what it used. */
export interface Transcript {
  assistant(text: string): void;
  toolCall(id: string, tool: string, input: unknown): void;
  /** What the command of a running call printed just now. */
  readonly toolOutput: (id: string, chunk: Buffer) => void;
  /** The answer to the call with this id; `tool` is for one whose call was not logged. */
  toolResult(id: string, output: string, isError: boolean, tool?: string): void;
  used(model: string, usage: TranscriptUsage): void;
  note(level: 30 | 40, msg: string): void;
  /** The session is over: calls without a result are not looked after any more. */
  readonly end: () => void;
}

interface Call extends LiveCall {
  readonly tool: string;
}

/** Writes a session as messages of the run, in the same words for every harness. */
export function transcriptOf(emit: Emit): Transcript {
  const calls = new Map<string, Call>();
  let live = 0;
  const log = (kind: LogKind, level: 30 | 40, msg: string, fields: Record<string, unknown> = {}) =>
    logTo(emit, kind, level, msg, fields);
  const progress = (id: string, tool: string, { output, leftOut, durationMs }: CallProgress) => {
    live += output.length;
    const fields = { tool, call: id, durationMs };
    const shown = live > liveCharacters || output === "" ? {} : { output, leftOut };
    log("tool-output", 30, `${tool} still running`, { ...fields, ...shown });
  };
  return {
    assistant: (text) => {
      for (const piece of pieces(text)) log("said", 30, piece);
    },
    toolCall: (id, tool, input) => {
      log("tool", 30, callText(tool, input), { tool, call: id, input });
      const call = liveCall((made) => progress(id, tool, made));
      calls.set(id, { ...call, tool });
    },
    toolOutput: (id, chunk) => calls.get(id)?.add(chunk),
    toolResult: (id, output, isError, named = "tool") => {
      const call = calls.get(id);
      const tool = call?.tool ?? named;
      call?.end();
      calls.delete(id);
      log("tool-result", isError ? 40 : 30, `${tool} ${isError ? "failed" : "done"}`, {
        tool,
        call: id,
        output,
        isError,
        durationMs: call === undefined ? 0 : Date.now() - call.startedAt,
      });
    },
    used: (model, usage) => log("usage", 30, `${usage.tokens} tokens`, { model, ...usage }),
    note: (level, msg) => log("run", level, msg),
    end: () => calls.forEach((call) => call.end()),
  };
}

function pieces(text: string): readonly string[] {
  if (text.trim() === "") return [];
  if (text.length <= assistantCharacters) return [text];
  const end = breakBefore(text, assistantCharacters);
  return [text.slice(0, end), ...pieces(text.slice(end))];
}

/** What a call is about, in the words of file tools, shells and the scheduler's own tools. */
const subjects = ["command", "path", "file_path", "resource", "agent", "text"];

/** A tool call in one line: the tool's name, and the command of a shell, the path of a file tool, a status text. */
function callText(tool: string, input: unknown): string {
  const fields = (input ?? {}) as Record<string, unknown>;
  const what = subjects.map((name) => fields[name]).find((value) => typeof value === "string");
  return typeof what === "string" ? `${tool}: ${what}` : tool;
}
