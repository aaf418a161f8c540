import { runtimeTypes } from "../../../../streams/runtimes.ts";
import type { AgentOptions } from "../agent/choose-agent.ts";
import type { RemoveAgentOptions } from "../agent/remove-agent.ts";
import { contextOf } from "../context.ts";
import { AlCommand } from "../help/al-command.ts";
import { severalTexts, wholeNumber } from "../options.ts";

/** `al agent new|ls|rm` */
export function agentCommand(): AlCommand {
  return new AlCommand("agent")
    .description("make, list and remove agents")
    .examples("al agent new", "al agent ls", "al agent rm triage")
    .addCommand(newAgentCommand())
    .addCommand(listCommand())
    .addCommand(removeCommand());
}

function listCommand(): AlCommand {
  return new AlCommand("ls")
    .description("list the agents with their state, tags and title")
    .examples("al agent ls", "al agent ls --json")
    .action(async (_options: unknown, command: AlCommand) => {
      const { listAgents } = await import("../agent/list-agents.ts");
      await listAgents(contextOf(command));
    });
}

function removeCommand(): AlCommand {
  return new AlCommand("rm")
    .description("remove an agent's directory; its history and logs stay")
    .argument("<agent>", "the agent; none of its runs may be running")
    .option("-y, --yes", "don't ask")
    .examples("al agent rm triage", "al agent rm triage --yes")
    .action(async (name: string, options: RemoveAgentOptions, command: AlCommand) => {
      const { removeAgent } = await import("../agent/remove-agent.ts");
      await removeAgent(contextOf(command), name, options);
    });
}

function newAgentCommand(): AlCommand {
  return new AlCommand("new")
    .description("make an agent; on a terminal it asks for what no flag says")
    .argument("[name]", "its name; its directory is agents/<name>")
    .option("-d, --description <text>", "what it does, in a sentence")
    .option("-m, --model <model>", "a model of the project; several: in order", severalTexts, [])
    .option("--schedule <cron>", "when it runs, as a cron expression with five fields")
    .option("--webhook <source>", "a webhook source that starts it", severalTexts, [])
    .option("--callable", "other agents call it or people start it; it needs no other trigger")
    .option("-c, --credential <credential>", "a credential that its runs get", severalTexts, [])
    .option("--timeout <s>", "seconds that a run may take", wholeNumber(1, 2_147_483))
    .choice("--runtime <type>", "where it runs (default: host-user as you)", runtimeTypes)
    .option("--run-as <user>", 'OS user of a host-user agent (default: "$USER", which is you)')
    .examples(
      "al agent new",
      "al agent new triage --model claude --webhook github -c github_token",
      "al agent new reviewer --callable",
      "al agent new report --schedule '0 9 * * 1-5' --runtime container",
    )
    .action(async (name: string | undefined, options: AgentOptions, command: AlCommand) => {
      const { newAgent } = await import("../agent/new-agent.ts");
      await newAgent(contextOf(command), name ?? null, options);
    });
}
