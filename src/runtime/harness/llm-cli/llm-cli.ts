import type { ModelApi } from "../../../../streams/agent-config.ts";
import type { JobModel } from "../../../foundation/contracts/job.ts";
import type { Transcript } from "../transcript.ts";

/** Input of a CLI for one session. */
export interface CliRequest {
  readonly model: JobModel;
  /** Base URL of the model's API, as `apiBaseUrl` returns it. */
  readonly baseUrl: string;
  /** The wire format of requests to it. */
  readonly api: ModelApi;
  /** Replaces the model's key. */
  readonly key: string;
  readonly prompt: string;
  /** Tokens above which the session is compacted; null for its own limit. */
  readonly sessionTokens: number | null;
  readonly systemPrompt: string;
  /** Absolute path of the file with the system prompt. */
  readonly systemPromptFile: string;
  /** Absolute path of a private folder, for the CLI's own settings and files. */
  readonly configDir: string;
  readonly workDir: string;
  /** The agent's MCP servers, each as a program that speaks over standard input and output. */
  readonly mcp: readonly CliMcpServer[];
  /** The config's own arguments. */
  readonly args: readonly string[];
  /** The session to resume, by the id that the command line printed earlier in this run, or by `keptSession`; null for a new one. */
  readonly resume: string | null;
}

/** How a CLI starts an MCP server. */
export interface CliMcpServer {
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** How long it may take to list its tools, in seconds. */
  readonly startSeconds: number;
}

/** The command that starts the CLI. Every user of the machine can read arguments: they hold no secret. */
export interface CliCommand {
  readonly args: readonly string[];
  /** Added to the variables of the agent's commands; null removes one of those. */
  readonly env: Readonly<Record<string, string | null>>;
  readonly input: string;
  /** Files that it needs in `configDir`: relative path to content. */
  readonly files?: Readonly<Record<string, string>>;
}

/** The CLI's own account of its session. */
export interface CliResult {
  /** Null for a success. The reason of a failed call to the model is known better to the gateway. */
  readonly error: string | null;
  readonly tokens: number | null;
  readonly costUsd: number | null;
  readonly turns: number | null;
}

/** Reads the CLI's stream. */
export interface CliReader {
  /** Takes one line that is a JSON object; unknown ones are skipped, as a newer CLI emits more. */
  take(event: Readonly<Record<string, unknown>>): void;
  /** Null until the CLI has reported its end. */
  result(): CliResult | null;
  /** How the CLI works on after a result; null if it does not. Absent if none does. */
  work?(): "turn" | "background" | null;
  /** Whether a session that can't be resumed may start anew after a failure of its model: it has called no tool. */
  mayRestart?(): boolean;
  /** Id by which the CLI resumes this session; null before it has one. */
  sessionId?(): string | null;
}

/** An external LLM command line that can run an agent's session. */
export interface LlmCli {
  /** Name of its program. */
  readonly program: string;
  /** The provider whose models it is made for; null for any. */
  readonly provider: string | null;
  /** The wire format that it speaks; null for that of the model. */
  readonly api: ModelApi | null;
  /** The command that installs it; null for one that is not known here. */
  readonly install: string | null;
  readonly refusesRoot: boolean;
  /** Why it refuses messages of people while it works, by their kind; null for those that it takes. */
  readonly refuses: Readonly<Record<"steer" | "stop", string | null>>;
  /**
   * A message as a line of its standard input, which then stays open until the program reports its result. Absent if it
   * reads its input only before it works.
   */
  readonly inputLine?: (text: string) => string;
  /** Its shell does not wait for long commands, so it gets the requests of the run as tools of an MCP server, too. */
  readonly needsTools?: true;
  /** Finds its session file by `files`, a pattern below its folder; `idOf` is what resumes it, of the first path. */
  readonly keptSession?: {
    readonly files: string;
    readonly idOf: (path: string) => string;
  };
  /** Its standard output is its answer, and its exit code its result. */
  readonly isPlain?: true;
  /** Minimum of its first request, with a short prompt, in tokens: thinking is part of the output. */
  readonly firstRequest: { readonly input: number; readonly output: number };
  command(request: CliRequest): CliCommand;
  reader(transcript: Transcript): CliReader;
  /**
   * Reads from the program's files in `configDir`, after its end, why the last answer is incomplete; null if it is
   * complete or that is unknown.
   */
  record?(configDir: string): Promise<string | null>;
}

/** How long a CLI waits for its model, in ms: longer than the gateway, whose verdict counts. */
export function ownTimeoutMs(modelSeconds: number): number {
  return (modelSeconds + 10) * 1000;
}

/** The prompt for a session that is resumed after a failure of its model. */
export const goOn = "Continue.";

/** Reasons for an incomplete last answer, in the same words for each CLI. */
export const answerProblems = {
  cut: "the answer was cut at its output limit",
  filtered: "the provider's content filter stopped the answer",
  refused: "the model refused to answer",
  empty: "the answer was empty",
  silent: "the answer was empty or a refusal, which codex does not tell apart",
} as const;
