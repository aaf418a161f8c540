import { contextOf } from "../context.ts";
import { AlCommand } from "../help/al-command.ts";
import type { UpdateOptions } from "../update/update-agents.ts";

/** `al update [agent]` */
export function updateCommand(): AlCommand {
  return new AlCommand("update")
    .description("update agents that came from al add to their newest source, after showing a diff")
    .argument("[agent]", "only this one")
    .option("-y, --yes", "don't ask")
    .option("--check", "show what is new, and change nothing")
    .option("--keep-local", "leave files that were changed here as they are, and update the rest")
    .examples("al update", "al update triage --check", "al update triage --keep-local --yes")
    .exitCodes({
      0: "all are up to date now, or with --check were compared",
      1: "one failed, was declined, or has changes of its own in what changed",
    })
    .action(async (agent: string | undefined, options: UpdateOptions, command: AlCommand) => {
      const { updateAgents } = await import("../update/update-agents.ts");
      process.exitCode = await updateAgents(contextOf(command), agent ?? null, options);
    });
}
