import type { AddOptions } from "../add/add-skill.ts";
import { contextOf } from "../context.ts";
import { AlCommand } from "../help/al-command.ts";

/** `al add <repo>` */
export function addCommand(): AlCommand {
  return new AlCommand("add")
    .description(
      "make an agent from a skill in a git repository or a directory, after showing its files",
    )
    .argument(
      "<repo>",
      "https, ssh or file URL, owner/name on GitHub, or a directory such as ./skills",
    )
    .option("-s, --skill <name>", "which one, when the repository has several")
    .option("--name <name>", "name of the agent (default: the skill's)")
    .option("-y, --yes", "don't ask")
    .examples(
      "al add acme/skills --skill triage",
      "al add git@example.com:team/triage.git --name issue-triage",
      "al add ./skills --skill triage --yes",
    )
    .action(async (repo: string, options: AddOptions, command: AlCommand) => {
      const { addSkill } = await import("../add/add-skill.ts");
      await addSkill(contextOf(command), repo, options);
    });
}
