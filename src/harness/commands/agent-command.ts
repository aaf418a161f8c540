import { text } from "node:stream/consumers";
import { postJson } from "../post-json.ts";
import { commandTable } from "./command-table.ts";
import { UsageError } from "./usage-error.ts";

interface Reply {
  readonly ok: boolean;
  readonly error?: string;
  readonly detail?: string;
}

export interface CommandSurroundings {
  readonly env: NodeJS.ProcessEnv;
  readonly stdin: NodeJS.ReadStream;
  readonly out: (text: string) => void;
  readonly err: (text: string) => void;
}

/**
 * What `al _agent <command> …` does: asks the run that the command was called in, and prints its answer as one JSON
 * object. A refusal is told on standard error too. The exit code: 0 done, 1 refused, 2 wrongly called.
 */
export async function agentCommand(
  [name = "", ...args]: readonly string[],
  { env, stdin, out, err }: CommandSurroundings,
): Promise<number> {
  const tell = (reply: Reply, exitCode: number): number => {
    out(`${JSON.stringify(reply)}\n`);
    if (!reply.ok) err(`${name}: ${reply.detail ?? reply.error ?? "refused"}\n`);
    return exitCode;
  };
  const entry = Object.hasOwn(commandTable, name)
    ? commandTable[name as keyof typeof commandTable]
    : undefined;
  if (entry === undefined) return tell(problem("usage", "there is no such command"), 2);
  const { usage, ability } = entry;
  if (args[0] === "--help" || args[0] === "-h") {
    err(`usage: ${usage}\n`);
    return tell({ ok: true, ...{ usage } }, 0);
  }
  try {
    // A terminal would wait for somebody to type.
    const input = (): Promise<string> => (stdin.isTTY ? Promise.resolve("") : text(stdin));
    const reply = await ask(ability, await entry.request(args, input), env.AL_RUN_SOCKET);
    return tell(reply, reply.ok ? 0 : 1);
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    return tell(problem("usage", `${error.message}; usage: ${usage}`), 2);
  }
}

function problem(error: string, detail: string): Reply {
  return { ok: false, error, detail };
}

async function ask(ability: string, body: object, socketPath: string | undefined): Promise<Reply> {
  if (socketPath === undefined) {
    return problem("no_run", "AL_RUN_SOCKET is not set: this works inside an agent's run only");
  }
  try {
    const { body: reply } = await postJson({ socketPath, path: `/${ability}`, body });
    return (reply ?? problem("internal", "the run gave no answer")) as Reply;
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return problem("unavailable", `the run cannot be reached: ${why}`);
  }
}
