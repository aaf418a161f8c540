import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Writable } from "node:stream";
import type { ModelApi } from "../../../../streams/agent-config.ts";
import type { Usage } from "../../../../streams/vocabulary.ts";
import { unversionedUrl } from "../../../foundation/contracts/model-defaults.ts";
import type { Job, JobModel } from "../../../foundation/contracts/job.ts";
import { messageOf } from "../../../foundation/errors.ts";
import { logTo, type Session, type Emit } from "../harness.ts";
import { runProgram } from "../run-program.ts";
import type { Time } from "../run-clock.ts";
import type { Transcript } from "../transcript.ts";
import type { ModelVerdict } from "../../wire/protocol.ts";
import type { PersonMessage } from "../run-api/people.ts";
import { messageText, systemPrompt } from "../prompt.ts";
import { ownMcpServer } from "../../../foundation/contracts/mcp.ts";
import { mcpCommandName } from "../../wire/requests/table.ts";
import type { CliCommand, CliMcpServer, CliReader, CliRequest, LlmCli } from "./llm-cli.ts";
import { sessionFailure, type SessionFailure } from "./session-failure.ts";
import { rawLines, type OutputStream } from "../raw-lines.ts";

/** A session that runs in a CLI. */
export interface CliSession {
  readonly cli: LlmCli;
  readonly model: JobModel;
  /** The wire format of its requests. */
  readonly api: ModelApi;
  /** Base URL of the provider's API, and that of the bridge in its place. */
  readonly upstream: string;
  readonly baseUrl: string;
  readonly transcript: Transcript;
  readonly session: Session;
  readonly time: Time;
}

/** How one run of the CLI ended. */
export interface CliRun {
  /** Null when it succeeded. */
  readonly failure: SessionFailure | null;
  readonly usage: Omit<Usage, "model">;
  /** The id by which the CLI resumes the session; null if it can't. */
  readonly sessionId: string | null;
  /** Whether a session that can't be resumed may start anew. */
  readonly mayRestart: boolean;
  /** How often its last request to the model failed; undefined if that is not known. */
  readonly failures?: number | undefined;
}

/** One message may hold the whole output of a tool, pictures included. */
const maxLineBytes = 8 * 1024 * 1024;

/** How long a CLI may take to exit after its result, in ms; while it works in the background, claude itself stops after 10 minutes. */
const exitMs = { done: 30_000, background: 660_000 };

/** Runs the CLI to its end; `resume` is the id of one of its sessions to resume, null for a new one. */
export async function runCliOnce(
  start: CliSession,
  resume: string | null,
  prompt: string,
): Promise<CliRun> {
  const { cli, model, transcript, session } = start;
  const { job, emit, signal } = session;
  const configDir = join(job.workDir, ".llm-cli");
  const command = await prepared(start, configDir, { resume, prompt });
  const reader = cli.reader(transcript);
  const over = new AbortController();
  const [input, exit] = [followPeople(start, over), exitLimit(start, reader)];
  const said = cli.isPlain === true ? createSaid() : null;
  const on = { onResult: input.end, onMessage: exit.check, onPlain: said?.add ?? null };
  const stream = readStream(reader, emit, on);
  const bridge = unversionedUrl(start.baseUrl);
  const provider = unversionedUrl(start.upstream);
  const ended = await runProgram(job.harness.command, command.args, {
    cwd: job.workDir,
    env: environment(session.commandEnv, command.env),
    timeoutMs: null,
    signal: AbortSignal.any([signal, exit.late]),
    // People recognize the provider's address, but not the bridge's.
    onLine: (line, ...rest) => stream.onLine(line.replaceAll(bridge, provider), ...rest),
    maxLineBytes,
    input: command.input,
    ...input.options,
    endsAll: true,
  });
  over.abort();
  exit.stop();
  // The result counts: the program was only late to exit.
  const end = exit.late.aborted ? { ...ended, exitCode: 0, problem: null } : ended;
  if (said !== null) transcript.assistant(said.text());
  const problem = await recordOf(start, configDir);
  const result = reader.result();
  const hasFailed = cli.isPlain === true ? end.exitCode !== 0 : result?.error != null;
  const verdict = hasFailed ? await verdictOn(session) : null;
  const cause = verdict?.failure ?? null;
  const outcome = { end, result, cause, problem, lastLines: stream.lastLines() };
  const failure = sessionFailure(outcome, cli, model.name, session);
  return { failure, usage: usageOf(reader), failures: verdict?.failures, ...continued(reader) };
}

/** How the session goes on after a failure of its model. */
function continued(reader: CliReader) {
  const mayRestart = reader.mayRestart?.() === true;
  return { sessionId: reader.sessionId?.() ?? null, mayRestart };
}

/**
 * Passes the messages of people on to the program's standard input, which ends when the program has reported a result and
 * no further message has come; it still reads those that it was given.
 */
function followPeople(
  { cli: { inputLine }, session: { people } }: CliSession,
  over: AbortController,
) {
  if (inputLine === undefined) return { options: {}, end: () => undefined };
  let pass: (message: PersonMessage) => void = () => undefined;
  return {
    options: {
      onInput: (stdin: Writable): void => {
        pass = (message) => void stdin.write(inputLine(messageText(message)));
        over.signal.addEventListener("abort", () => stdin.end(), { once: true });
        void people.follow(pass, over.signal);
      },
    },
    end: async (): Promise<void> => {
      if (!(await people.last(pass))) over.abort();
    },
  };
}

/** Ends a program that has reported its result, works on nothing, and does not exit, with a warning. */
function exitLimit({ cli: { program }, transcript, time }: CliSession, reader: CliReader) {
  const late = new AbortController();
  let [state, stop]: [keyof typeof exitMs | null, () => void] = [null, () => undefined];
  const end = (ms: number): void => {
    const text = `${program} did not exit within ${ms / 1000} s of its result, and is ended`;
    transcript.note(40, text);
    late.abort();
  };
  return {
    late: late.signal,
    /** Called after each message of the program. */
    check: (): void => {
      const before = state;
      const work = reader.work?.() ?? "done";
      state = reader.result() === null || work === "turn" ? null : work;
      if (state === before) return;
      stop();
      const ms = state === null ? null : exitMs[state];
      stop = ms === null ? () => undefined : time.after(ms, () => end(ms));
    },
    stop: (): void => stop(),
  };
}

/** The verdict on the program's last call to its model; null if the scheduler is down. */
function verdictOn({ endpoint, signal }: Session): Promise<ModelVerdict | null> {
  return endpoint.verdictOn(undefined, signal).catch(() => null);
}

/** The session's result is already known, so an unreadable record is only a warning. */
async function recordOf(
  { cli, transcript }: CliSession,
  configDir: string,
): Promise<string | null> {
  try {
    return (await cli.record?.(configDir)) ?? null;
  } catch (error) {
    transcript.note(40, `the records of ${cli.program} cannot be read: ${messageOf(error)}`);
    return null;
  }
}

/** Writes the files that the CLI reads, readable only by its own user. */
async function prepared(
  { cli, model, api, baseUrl, session: { job, endpoint, commandEnv } }: CliSession,
  configDir: string,
  turn: Pick<CliRequest, "resume" | "prompt">,
): Promise<CliCommand> {
  const { workDir, instructions, title } = job;
  const { args = [] } = job.harness;
  const instructed = systemPrompt(instructions, title);
  const systemPromptFile = join(configDir, "system-prompt.md");
  const { key } = endpoint;
  const mcp = mcpServers(job, cli, commandEnv);
  const paths = { systemPromptFile, configDir, workDir };
  const { sessionTokens = null } = job;
  const texts = { ...turn, systemPrompt: instructed, sessionTokens };
  const request = { model, api, baseUrl, key, args, ...texts, ...paths, mcp };
  const command = cli.command(request);
  const files = { "system-prompt.md": instructed, ...command.files };
  for (const [name, text] of Object.entries(files)) {
    const path = join(configDir, name);
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    await writeFile(path, text, { mode: 0o600 });
  }
  return command;
}

/** None if the agent's commands do not work: the run has warned of that. */
function mcpServers(
  { mcp = [] }: Job,
  { needsTools }: LlmCli,
  { AL_RUN_SOCKET: socket, PATH = "" }: Readonly<Record<string, string>>,
): readonly CliMcpServer[] {
  if (socket === undefined) return [];
  const command = join(dirname(socket), "bin", mcpCommandName);
  const env = { AL_RUN_SOCKET: socket, PATH };
  const served = mcp.map(({ name, timeoutSeconds }) => {
    return { name, command, args: [name], env, startSeconds: timeoutSeconds + 10 };
  });
  if (needsTools === undefined) return served;
  return [...served, { name: ownMcpServer, command, args: [], env, startSeconds: 60 }];
}

function environment(
  commandEnv: Readonly<Record<string, string>>,
  own: CliCommand["env"],
): Record<string, string> {
  const entries = Object.entries({ ...commandEnv, ...own });
  return Object.fromEntries(
    entries.filter((entry): entry is [string, string] => entry[1] !== null),
  );
}

/** A session that was cut short has no result; the scheduler counts its tokens. */
function usageOf(reader: CliReader): CliRun["usage"] {
  const { tokens = null, costUsd = null, turns = null } = reader.result() ?? {};
  // Some report zeros without a call that was paid.
  return (tokens ?? 0) === 0 ? { tokens: null, costUsd: null, turns } : { tokens, costUsd, turns };
}

/** How much of a plain program's output is what it said, in bytes. */
const saidBytes = 32 * 1024;

/** The end of a plain program's standard output, in whole lines: a secret that was cut would not be found. */
function createSaid() {
  const lines: string[] = [];
  let bytes = 0;
  const sizeOf = (line: string): number => Buffer.byteLength(line) + 1;
  return {
    add: (line: string): void => {
      lines.push(line);
      bytes += sizeOf(line);
      while (bytes > saidBytes) bytes -= sizeOf(lines.shift() ?? "");
    },
    text: () => lines.join("\n").trim(),
  };
}

interface StreamEvents {
  readonly onResult: () => unknown;
  readonly onMessage: () => void;
  /** Takes each line of the standard output of a plain program, which has no messages; null for another one. */
  readonly onPlain: ((line: string) => void) | null;
}

/** Splits a CLI's output: passes messages to its reader, and logs all other lines unchanged. */
function readStream(reader: CliReader, emit: Emit, { onResult, onMessage, onPlain }: StreamEvents) {
  const log = (level: 30 | 40, msg: string, stream: OutputStream) =>
    logTo(emit, "process", level, msg, { stream });
  const raw = rawLines((line, stream) => log(30, line, stream));
  return {
    onLine: (line: string, stream: OutputStream, isCut: boolean): void => {
      if (stream === "stdout") onPlain?.(line);
      const isMessage = onPlain === null && stream === "stdout" && !isCut;
      const message = isMessage ? objectIn(line) : null;
      if (message !== null) {
        const before = reader.result();
        reader.take(message);
        if (reader.result() !== before) onResult();
        onMessage();
        return;
      }
      if (isCut && onPlain === null && line.startsWith("{"))
        log(40, "a message that is too long to read", stream);
      else if (line.trim() !== "") raw.add(line, stream);
    },
    /** The last lines that were not messages. */
    lastLines: raw.last,
  };
}

function objectIn(line: string): Readonly<Record<string, unknown>> | null {
  if (!line.startsWith("{")) return null;
  try {
    return JSON.parse(line) as Record<string, unknown>;
  } catch {
    return null;
  }
}
