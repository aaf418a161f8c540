import type { ConfigOptions } from "../config/change-config.ts";
import { contextOf, globalContextOf } from "../context.ts";
import { AlCommand } from "../help/al-command.ts";
import { UserError } from "../../../foundation/errors.ts";
import { severalTexts } from "../options.ts";
import type { SchemaName } from "../../operations/editor-schemas.ts";

type Options = ConfigOptions & { readonly schema?: SchemaName };

/** `al config [agent]` */
export function configCommand(): AlCommand {
  return new AlCommand("config")
    .description("show or change the project's config.toml, or an agent's; comments and order stay")
    .argument("[agent]", "the agent; without it the project")
    .option("--set <key=value>", "set a key; may be given several times", severalTexts, [])
    .option("--add <key=value>", "add to a list; may be given several times", severalTexts, [])
    .option("--unset <key>", "remove a key; may be given several times", severalTexts, [])
    .choice("--schema <file>", "print the JSON Schema of a kind of config.toml", [
      "project",
      "agent",
    ])
    .examples(
      "al config dev --set 'schedule=0 9 * * 1-5' --set 'models=[\"claude\", \"gpt\"]'",
      "al config --set gateway.port=9000",
      "al config dev --add network.allow=api.example.com",
      "al config dev --unset timeout",
      "al config --schema agent > agent.schema.json",
    )
    .action(async (agent: string | undefined, options: Options, command: AlCommand) => {
      if (options.schema !== undefined) return printSchema(options, options.schema, command);
      const { changeConfig } = await import("../config/change-config.ts");
      await changeConfig(contextOf(command), agent ?? null, options);
    });
}

async function printSchema({ set, add, unset }: Options, name: SchemaName, command: AlCommand) {
  if (set.length + add.length + unset.length > 0) {
    throw new UserError("usage", "--schema prints and changes nothing", { exitCode: 2 });
  }
  const { schemaOf } = await import("../../operations/editor-schemas.ts");
  globalContextOf(command).out.data(JSON.stringify(schemaOf(name), null, 2));
}
