import { text } from "node:stream/consumers";
import { parseArgs } from "node:util";
import { messageOf, Problem, usageError, failureOf } from "../../../foundation/errors.ts";
import { type CommandArguments, type CommandRow } from "../../wire/requests/row.ts";
import { agentCommands } from "../../wire/requests/table.ts";
import { postJson } from "../../wire/post-json.ts";

interface Reply {
  readonly ok: boolean;
  readonly error?: string;
  readonly detail?: string;
}

interface AgentCommandDeps {
  readonly env: NodeJS.ProcessEnv;
  readonly stdin: NodeJS.ReadStream;
  readonly out: (text: string) => void;
  readonly err: (text: string) => void;
}

/**
 * `al _agent <command> …`: sends the request to the run in which it was called, and prints the answer as one JSON
 * object. A refusal is printed to standard error too. Exit codes: 0 done, 1 refused, 2 wrong arguments; those of a row with
 * codes of its own differ.
 */
export async function agentCommand(
  [name = "", ...args]: readonly string[],
  { env, stdin, out, err }: AgentCommandDeps,
): Promise<number> {
  const row = agentCommands.find((command) => command.name === name);
  const print = (reply: object & Reply, exitCode = reply.ok ? 0 : 1): number => {
    out(`${JSON.stringify(reply)}\n`);
    if (!reply.ok) err(`${name}: ${reply.detail ?? reply.error ?? "refused"}\n`);
    return exitCode;
  };
  try {
    if (row === undefined) throw usageError("there is no such command");
    const { usage, request } = row;
    if (args[0] === "--help" || args[0] === "-h") {
      err(`usage: ${usage}\n`);
      return print({ ok: true, usage } as Reply);
    }
    // A terminal has no end of input.
    const input = (): Promise<string> => (stdin.isTTY ? Promise.resolve("") : text(stdin));
    const body = await commandBody(row, args, input);
    const reply = await ask(request, body, env.AL_RUN_SOCKET);
    const { exitCode } = row;
    if (exitCode === undefined) return print(reply);
    return print(reply, reply.ok ? exitCode({ ...body }, { ...reply }) : 2);
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    const { code, message, exitCode } = error;
    const usage = row !== undefined && code === "usage" ? `; usage: ${row.usage}` : "";
    return print({ ok: false, error: code, detail: `${message}${usage}` }, exitCode);
  }
}

async function ask(request: string, body: object, socketPath: string | undefined): Promise<Reply> {
  if (socketPath === undefined) {
    throw new Problem("no_run", "AL_RUN_SOCKET is not set: this works inside an agent's run only");
  }
  const answer = await postJson({ socketPath, path: `/${request}`, body }).catch(
    (error: unknown) => {
      throw failureOf("unavailable", "the run cannot be reached", error);
    },
  );
  const reply = (answer.body ?? null) as Reply | null;
  if (reply === null) throw new Problem("internal", "the run gave no answer");
  return reply;
}

/** The body of a command's request. Throws a Problem (usage) for invalid arguments. */
export async function commandBody(
  row: CommandRow,
  args: readonly string[],
  stdin: () => Promise<string>,
): Promise<object> {
  const { positionals: left, values } = parsed(row, args);
  const text = (option: string): string | undefined => {
    const value = values[option];
    return typeof value === "string" ? value : undefined;
  };
  const body = await row.body({
    word: (name) => left.shift() ?? missing(name),
    optionalWord: () => left.shift(),
    words: (name) => (left.length === 0 ? missing(name) : left.splice(0)),
    text,
    flag: (option) => (values[option] === true ? true : undefined),
    list: (option) => (values[option] ?? []) as readonly string[],
    seconds: (option) => secondsIn(option, text(option)),
    stdin,
  } satisfies CommandArguments);
  if (left[0] !== undefined) throw usageError(`"${left[0]}" is one argument too many`);
  return body;
}

function parsed({ options = {} }: CommandRow, args: readonly string[]) {
  const types = Object.entries(options).map(([name, kind]) => {
    const type: "boolean" | "string" = kind === "flag" ? "boolean" : "string";
    return [name, { type, multiple: kind === "list" }] as const;
  });
  try {
    return parseArgs({
      args: [...args],
      options: Object.fromEntries(types),
      allowPositionals: true,
      strict: true,
    });
  } catch (error) {
    throw usageError(messageOf(error));
  }
}

function missing(name: string): never {
  throw usageError(`the ${name} is missing`);
}

function secondsIn(option: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const seconds = Number(text);
  if (text !== "" && Number.isFinite(seconds) && seconds >= 0) return seconds;
  throw usageError(`--${option} ${text} is not a number of seconds`);
}
