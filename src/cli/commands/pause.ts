import { Command } from "commander";
import { connect, withAgent } from "../operator/connect.ts";
import { contextOf } from "../context.ts";
import type { Context } from "../context.ts";
import { examples } from "../help/examples.ts";

/** `al pause [agent]` */
export function pauseCommand(): Command {
  return new Command("pause")
    .description("stop cron for the whole project, or disable one agent")
    .argument("[agent]", "the agent to disable; its running runs go on")
    .addHelpText("after", examples(["al pause", "al pause triage"]))
    .action((agent: string | undefined, _options: unknown, command: Command) =>
      pause(contextOf(command), agent),
    );
}

async function pause(context: Context, agent: string | undefined): Promise<void> {
  const { out } = context;
  const client = await connect(context);
  if (agent === undefined) {
    const answer = await client.post("/control/pause");
    if (out.json) return out.document(answer);
    return out.data("paused: cron jobs are skipped until al resume");
  }
  const path = `/control/agents/${encodeURIComponent(agent)}/disable`;
  const answer = await withAgent(client, agent, client.post(path));
  if (out.json) return out.document(answer);
  out.data(`${agent} is disabled until al resume ${agent}`);
}
