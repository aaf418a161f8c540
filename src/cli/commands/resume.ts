import { Command } from "commander";
import { connect, withAgent } from "../operator/connect.ts";
import { contextOf } from "../context.ts";
import type { Context } from "../context.ts";
import { examples } from "../help/examples.ts";

/** `al resume [agent]` */
export function resumeCommand(): Command {
  return new Command("resume")
    .description("go on with cron for the whole project, or enable one agent")
    .argument("[agent]", "the agent to enable")
    .addHelpText("after", examples(["al resume", "al resume triage"]))
    .action((agent: string | undefined, _options: unknown, command: Command) =>
      resume(contextOf(command), agent),
    );
}

async function resume(context: Context, agent: string | undefined): Promise<void> {
  const { out } = context;
  const client = await connect(context);
  if (agent === undefined) {
    const answer = await client.post("/control/resume");
    if (out.json) return out.document(answer);
    return out.data("resumed: cron jobs run again");
  }
  const path = `/control/agents/${encodeURIComponent(agent)}/enable`;
  const answer = await withAgent(client, agent, client.post(path));
  if (out.json) return out.document(answer);
  out.data(`${agent} is enabled`);
}
