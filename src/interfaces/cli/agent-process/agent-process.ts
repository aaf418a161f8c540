import { connectCommandName, mcpCommandName } from "../../../runtime/wire/requests/table.ts";
import { agentCommand } from "../../../runtime/harness/commands/agent-command.ts";
import { connectCommand } from "../../../runtime/harness/commands/connect-command.ts";

/** `al _agent <command> …`: a command of an agent's shell; resolves to its exit code. */
export async function agentProcess(args: readonly string[]): Promise<number> {
  const { env, stdin, stdout } = process;
  const err = (text: string): void => void process.stderr.write(text);
  if (args[0] === connectCommandName) {
    return connectCommand(args.slice(1), { env, stdin, stdout, err });
  }
  if (args[0] === mcpCommandName) {
    const { mcpCommand } = await import("../../../runtime/harness/mcp/mcp-command.ts");
    return mcpCommand(args.slice(1), { env, stdin, stdout, err });
  }
  return agentCommand(args, { env, stdin, out: (text) => void stdout.write(text), err });
}
