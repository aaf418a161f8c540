import type { RunnerEvent, RunnerExit } from "../../../streams/runs/runner.ts";
import type { LogEntry, LogLevel, RunRequest } from "../../../streams/vocabulary.ts";
import { cappedMessage, lineSplitter, maxOutputBytes } from "../wire/lines.ts";
import { mapTexts } from "../../foundation/contracts/json-size.ts";
import type { RedactText } from "../../foundation/credentials/redactor.ts";
import { runMessageSchema, type RunMessage } from "../wire/run-messages.ts";

export type EndMessage = Extract<RunMessage, { type: "end" }>;

/** The results of a run, beside its account. */
export type HandedBack = Pick<RunnerExit, "value" | "said" | "rerun">;

export interface RunOutputOptions {
  readonly request: RunRequest;
  /** Removes known secrets and control characters from a text, before output is cut or passed on. */
  readonly redact: RedactText;
  readonly emit: (event: RunnerEvent) => void;
  /** `until` is epoch ms. */
  readonly onCooldown: (model: string, until: number) => void;
  /** Whether the agent may have had effects before this output; false if absent. */
  readonly isReady?: boolean;
}

/** Limit of one line in bytes; a longer one is cut, here or by the process's reader. */
const maxLineBytes = 32 * 1024;
/** Characters of a raw line in the log. */
const maxRawCharacters = 8192;

/**
 * Turns a run's output into events: messages on standard output, raw lines for everything else. Beyond `maxOutputBytes`
 * one line reports that, and from then on only messages are passed on.
 */
export function runOutput(options: RunOutputOptions) {
  const { request, redact, emit, onCooldown } = options;
  let isReady = options.isReady ?? false;
  let end: EndMessage | null = null;
  const returned = returnedValue();
  const models = new Set(request.agent.models.map(({ name }) => name));
  let rerun = false;
  let said = false;
  const output = { begun: "" };
  const withoutSecrets = (value: unknown): unknown => mapTexts(value, (text) => redact(text));

  const log = (level: LogLevel, time: number, text: string, fields: Record<string, unknown>) => {
    const { instanceId, agent } = request;
    const msg = redact(text, output);
    const entry: LogEntry = {
      ...(withoutSecrets(fields) as Record<string, unknown>),
      level,
      time,
      msg: fields.kind === "process" ? msg.slice(0, maxRawCharacters) : msg,
      agent: agent.name,
      instanceId,
    };
    emit({ type: "output", entry });
  };

  const within = outputLimit(() => log(40, Date.now(), cappedMessage, { kind: "run" }));

  const raw = (line: string, stream: "stdout" | "stderr", time: number) => {
    if (line.trim() === "" || !within(line.length)) return;
    log(stream === "stderr" ? 40 : 30, time, line, { kind: "process", stream });
  };

  const coolDown = (model: string, until: number) => {
    const time = Date.now();
    const seconds = Math.max(0, Math.round((until - time) / 1000));
    const msg = `model "${model}" is in cooldown for ${seconds} s: runs that start until then try it last`;
    log(30, time, msg, { kind: "run", model, until });
    onCooldown(model, until);
  };

  /** Once its agent has started, no message of the run can restart it. */
  const endOf = (message: EndMessage): EndMessage => {
    const { blocked, ...end } = withoutSecrets(message) as EndMessage;
    return blocked === true && !isReady ? { ...end, blocked } : end;
  };

  const handle = (message: RunMessage, length: number) => {
    switch (message.type) {
      case "log": {
        const { level, time, msg, kind, fields } = message;
        if (kind === "tool") said = false;
        if (kind === "said") said = msg.trim() !== "";
        if (within(length)) log(level, time, msg, { ...fields, kind });
        break;
      }
      case "status":
        emit({ type: "status-text", text: redact(message.text).slice(0, 500) });
        break;
      case "ready":
        isReady = true;
        emit({ type: "ready" });
        break;
      case "return":
        returned.take(message);
        break;
      case "rerun":
        rerun = true;
        break;
      case "cooldown":
        // A run reports on its own models: other names would only fill the memory.
        if (models.has(message.model)) coolDown(message.model, message.until);
        break;
      case "end":
        end = endOf(message);
        break;
    }
  };

  const take = (stream: "stdout" | "stderr", line: string, time: number) => {
    const message = stream === "stdout" ? messageIn(line) : null;
    if (message === null) raw(line, stream, time);
    else handle(message, line.length);
  };

  return {
    /** Handles a whole line. `time` is its arrival, epoch ms, as raw lines have no timestamp. */
    line: take,
    stdout: lineSplitter(maxLineBytes, (line) => take("stdout", line, Date.now())),
    stderr: lineSplitter(maxLineBytes, (line) => take("stderr", line, Date.now())),
    /** The run's own account; null before it came. */
    end: (): EndMessage | null => end,
    /** The value that the run returned, and the rerun that it asked for, so far. */
    handedBack: (): HandedBack => {
      const value = withoutSecrets(returned.value());
      return { said, rerun, ...(value === undefined ? {} : { value }) };
    },
  };
}

export type RunOutput = ReturnType<typeof runOutput>;

/** Tells whether a line of a length may still be logged; `onReached` is called once. */
function outputLimit(onReached: () => void): (length: number) => boolean {
  let bytes = 0;
  return (length) => {
    const before = bytes;
    bytes += length;
    if (before <= maxOutputBytes && bytes > maxOutputBytes) onReached();
    return bytes <= maxOutputBytes;
  };
}

/** Limit of a value in characters. A run's own limit is far below, but its process is not trusted to obey it. */
const maxValueCharacters = 512 * 1024;

/** Joins the pieces of returned values as they come; a value that is too long or not JSON is dropped. */
function returnedValue() {
  let pieces = "";
  let last: unknown;
  return {
    take: ({ json, more }: Extract<RunMessage, { type: "return" }>): void => {
      pieces = (pieces + json).slice(0, maxValueCharacters);
      if (more) return;
      try {
        last = JSON.parse(pieces);
      } catch {
        // The caller gets the previous value, if any.
      }
      pieces = "";
    },
    /** The last complete value; undefined before the first. */
    value: () => last,
  };
}

function messageIn(line: string): RunMessage | null {
  if (!line.startsWith("{")) return null;
  try {
    const message = runMessageSchema.safeParse(JSON.parse(line));
    return message.success ? message.data : null;
  } catch {
    return null;
  }
}
