import { agentCommand } from "../../harness/commands/agent-command.ts";

/** `al _agent <command> …`: what the commands on an agent's PATH call. Not for people; sets the exit code. */
export async function runAgentCommand(args: readonly string[]): Promise<void> {
  process.exitCode = await agentCommand(args, {
    env: process.env,
    stdin: process.stdin,
    out: (text) => void process.stdout.write(text),
    err: (text) => void process.stderr.write(text),
  });
}
