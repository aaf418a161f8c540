import { providers } from "../../../../streams/agent-config.ts";
import { globalContextOf } from "../context.ts";
import { AlCommand } from "../help/al-command.ts";
import type { NewOptions } from "../new/choose-project.ts";

/** `al new <dir>` */
export function newCommand(): AlCommand {
  return new AlCommand("new")
    .description("make a project that runs at once; on a terminal it asks for what no flag says")
    .argument("<dir>", "the new directory; files that are there are not overwritten")
    .option("-a, --agent <name>", "name of its first agent (default: hello)")
    .choice("--provider <provider>", "who serves the model (default: scripted)", providers)
    .option("--model <model>", "the model, as the provider calls it")
    .option("--base-url <url>", "address of an endpoint of your own (provider custom)")
    .option("--schedule <cron>", "when the agent runs")
    .option("-y, --yes", "ask nothing, use the defaults")
    .examples(
      "al new my-project",
      "al new my-project --provider anthropic --schedule '0 9 * * 1-5'",
    )
    .action(async (dir: string, options: NewOptions, command: AlCommand) => {
      const { newProject } = await import("../new/new-project.ts");
      await newProject(globalContextOf(command), dir, options);
    });
}
