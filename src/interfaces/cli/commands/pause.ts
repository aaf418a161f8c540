import { contextOf } from "../context.ts";
import type { Context } from "../context.ts";
import { AlCommand } from "../help/al-command.ts";
import { connect, withAgent } from "../operator/connect.ts";

/** `al pause [agent]` */
export function pauseCommand(): AlCommand {
  return new AlCommand("pause")
    .description("stop cron for the whole project, or disable one agent")
    .argument("[agent]", "the agent to disable; its running runs continue")
    .examples("al pause", "al pause triage")
    .action((agent: string | undefined, _options: unknown, command: AlCommand) =>
      agent === undefined
        ? operate(contextOf(command), "pause", "paused: cron jobs are skipped until al resume")
        : operateOn(contextOf(command), agent, "disable", `disabled until al resume ${agent}`),
    );
}

/** `al resume [agent]` */
export function resumeCommand(): AlCommand {
  return new AlCommand("resume")
    .description("resume cron for the whole project, or enable one agent")
    .argument("[agent]", "the agent to enable")
    .examples("al resume", "al resume triage")
    .action((agent: string | undefined, _options: unknown, command: AlCommand) =>
      agent === undefined
        ? operate(contextOf(command), "resume", "resumed: cron jobs run again")
        : operateOn(contextOf(command), agent, "enable", "enabled"),
    );
}

async function operate(context: Context, operation: string, text: string): Promise<void> {
  const { out } = context;
  const answer = await (await connect(context)).post(`/control/${operation}`);
  if (out.json) out.document(answer);
  else out.data(text);
}

async function operateOn(
  context: Context,
  agent: string,
  operation: string,
  state: string,
): Promise<void> {
  const { out } = context;
  const client = await connect(context);
  const path = `/control/agents/${encodeURIComponent(agent)}/${operation}`;
  const answer = await withAgent(client, agent, client.post(path));
  if (out.json) out.document(answer);
  else out.data(`${agent} is ${state}`);
}
