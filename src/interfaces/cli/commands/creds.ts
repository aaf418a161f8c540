import { globalContextOf } from "../context.ts";
import type { AddOptions } from "../creds/add-credential.ts";
import type { RemoveOptions } from "../creds/remove-credential.ts";
import { AlCommand } from "../help/al-command.ts";

/** `al creds ls|add|rm` */
export function credsCommand(): AlCommand {
  return new AlCommand("creds")
    .description("list, add and remove credentials; a secret is never shown")
    .examples("al creds ls", "al creds add anthropic_key")
    .addCommand(listCommand())
    .addCommand(addCommand())
    .addCommand(removeCommand());
}

function listCommand(): AlCommand {
  return new AlCommand("ls")
    .description("list the stored credentials, the variables they set and their files' modes")
    .option("--types", "list the types that the program knows instead")
    .examples("al creds ls", "al creds ls --types")
    .action(async (options: { types?: true }, command: AlCommand) => {
      const { listStored, listTypes } = await import("../creds/list-credentials.ts");
      const context = globalContextOf(command);
      if (options.types) listTypes(context);
      else await listStored(context);
    });
}

function addCommand(): AlCommand {
  return new AlCommand("add")
    .description("store a secret, from a hidden prompt or from standard input")
    .argument("<credential>", "type, or type:instance (al creds ls --types lists the known types)")
    .option("-f, --field <field>", "the field, for a type with several")
    .option("--from-file <path>", "read the secret from this file")
    .option("--replace", "replace a secret that is stored")
    .examples(
      "al creds add anthropic_key",
      "pass show github | al creds add github_token:bot",
      "al creds add git_ssh --field private_key --from-file ~/.ssh/agent_ed25519",
    )
    .action(async (reference: string, options: AddOptions, command: AlCommand) => {
      const { addCredential } = await import("../creds/add-credential.ts");
      await addCredential(globalContextOf(command), reference, options);
    });
}

function removeCommand(): AlCommand {
  return new AlCommand("rm")
    .description("remove a credential")
    .argument("<credential>", "type, or type:instance")
    .option("-f, --field <field>", "only this field")
    .option("-y, --yes", "don't ask")
    .examples("al creds rm github_token:bot", "al creds rm git_ssh --field private_key --yes")
    .action(async (reference: string, options: RemoveOptions, command: AlCommand) => {
      const { removeStored } = await import("../creds/remove-credential.ts");
      await removeStored(globalContextOf(command), reference, options);
    });
}
