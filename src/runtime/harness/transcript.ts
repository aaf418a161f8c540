import type { LogKind } from "../../foundation/contracts/log-kinds.ts";
import { logTo, type Emit } from "./harness.ts";
import { liveCall, type CallProgress, type LiveCall } from "./live-call.ts";
import { breakBefore } from "./message-writer.ts";

/** The most characters of one `assistant` entry; a longer text is split into several entries. */
const assistantCharacters = 6000;
/** The most characters of running calls' output that one session logs; results are always logged. */
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

interface Call extends LiveCall {
  readonly tool: string;
}

/** Logs a session through the run's messages: the model's texts, its tool calls and their results, and its usage. */
export function transcriptOf(emit: Emit) {
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
    assistant: (text: string) => {
      for (const piece of pieces(text, assistantCharacters)) log("said", 30, piece);
    },
    toolCall: (id: string, tool: string, input: unknown) => {
      log("tool", 30, callText(tool, input), { tool, call: id, input });
      const call = liveCall((made) => progress(id, tool, made));
      calls.set(id, { ...call, tool });
    },
    /** Adds new output of a running call's command. */
    toolOutput: (id: string, chunk: Buffer) => calls.get(id)?.add(chunk),
    /** Logs the result of the call with this id; `named` is the tool if the call was not logged. */
    toolResult: (id: string, output: string, isError: boolean, named = "tool") => {
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
    used: (model: string, usage: TranscriptUsage) =>
      log("usage", 30, `${usage.tokens} tokens`, { model, ...usage }),
    note: (level: 30 | 40, msg: string) => log("run", level, msg),
    /** Ends the session: stops progress logs of calls without a result. */
    end: () => calls.forEach((call) => call.end()),
  };
}

export type Transcript = ReturnType<typeof transcriptOf>;

/** A text in pieces of at most `limit` characters; none for a text without words. */
export function pieces(text: string, limit: number): readonly string[] {
  if (text.trim() === "") return [];
  if (text.length <= limit) return [text];
  const end = breakBefore(text, limit);
  return [text.slice(0, end), ...pieces(text.slice(end), limit)];
}

/** Fields that name the subject of a call to a shell, a file tool or one of the scheduler's tools. */
const subjects = ["command", "path", "file_path", "resource", "agent", "text"];

/** A tool call in one line: the tool's name, and the command of a shell, the path of a file tool, a status text. */
function callText(tool: string, input: unknown): string {
  const fields = (input ?? {}) as Record<string, unknown>;
  const subject = subjects.map((name) => fields[name]).find((value) => typeof value === "string");
  return typeof subject === "string" ? `${tool}: ${subject}` : tool;
}
