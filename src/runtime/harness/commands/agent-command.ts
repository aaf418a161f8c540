import { text } from "node:stream/consumers";
import { parseArgs } from "node:util";
import { UsageError, type CommandArguments, type CommandRow } from "../../wire/requests/row.ts";
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
 * object. A refusal is printed to standard error too. Exit codes: 0 done, 1 refused, 2 wrong arguments.
 */
export async function agentCommand(
  [name = "", ...args]: readonly string[],
  { env, stdin, out, err }: AgentCommandDeps,
): Promise<number> {
  const print = (reply: object & Reply, exitCode: number): number => {
    out(`${JSON.stringify(reply)}\n`);
    if (!reply.ok) err(`${name}: ${reply.detail ?? reply.error ?? "refused"}\n`);
    return exitCode;
  };
  const row = agentCommands.find((command) => command.name === name);
  if (row === undefined) return print(problem("usage", "there is no such command"), 2);
  const { usage, request } = row;
  if (args[0] === "--help" || args[0] === "-h") {
    err(`usage: ${usage}\n`);
    return print({ ok: true, usage } as Reply, 0);
  }
  try {
    // A terminal has no end of input.
    const input = (): Promise<string> => (stdin.isTTY ? Promise.resolve("") : text(stdin));
    const reply = await ask(request, await commandBody(row, args, input), env.AL_RUN_SOCKET);
    return print(reply, reply.ok ? 0 : 1);
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    return print(problem("usage", `${error.message}; usage: ${usage}`), 2);
  }
}

function problem(error: string, detail: string): Reply {
  return { ok: false, error, detail };
}

async function ask(request: string, body: object, socketPath: string | undefined): Promise<Reply> {
  if (socketPath === undefined) {
    return problem("no_run", "AL_RUN_SOCKET is not set: this works inside an agent's run only");
  }
  try {
    const { body: reply } = await postJson({ socketPath, path: `/${request}`, body });
    return (reply ?? problem("internal", "the run gave no answer")) as Reply;
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return problem("unavailable", `the run cannot be reached: ${why}`);
  }
}

/** The body of a command's request. Throws a UsageError for invalid arguments. */
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
  if (left[0] !== undefined) throw new UsageError(`"${left[0]}" is one argument too many`);
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
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}

function missing(name: string): never {
  throw new UsageError(`the ${name} is missing`);
}

function secondsIn(option: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const seconds = Number(text);
  if (text !== "" && Number.isFinite(seconds) && seconds >= 0) return seconds;
  throw new UsageError(`--${option} ${text} is not a number of seconds`);
}
