import { globalContextOf } from "../context.ts";
import { AlCommand } from "../help/al-command.ts";
import type { ImportOptions } from "../import/import-project.ts";

/** `al import <dir>` */
export function importCommand(): AlCommand {
  return new AlCommand("import")
    .description("convert an Action Llama project; the original stays as it is")
    .argument("<dir>", "the project's directory, or a directory of agents")
    .option("--to <dir>", "the new project's directory (default: <name>-almanac in this directory)")
    .option(
      "--credentials [dir]",
      "copy the credentials that it needs (default: from ~/.action-llama/credentials)",
    )
    .option("-y, --yes", "don't ask; credentials are copied only with --credentials")
    .examples(
      "al import ~/agents",
      "al import ~/agents --to ~/almanac-agents --yes --credentials",
      "al import ~/agents --yes --json > import.json",
    )
    .action(async (dir: string, options: ImportOptions, command: AlCommand) => {
      const { importProject } = await import("../import/import-project.ts");
      await importProject(globalContextOf(command), dir, options);
    });
}
