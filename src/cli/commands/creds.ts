import { Command } from "commander";
import { surroundingsOf } from "../context.ts";
import type { AddOptions } from "../creds/add-credential.ts";
import type { RemoveOptions } from "../creds/remove-credential.ts";
import { examples } from "../help/examples.ts";

/** `al creds ls|add|rm` */
export function credsCommand(): Command {
  return new Command("creds")
    .description("list, add and remove credentials; a secret is never shown")
    .addHelpText("after", examples(["al creds ls", "al creds add anthropic_key"]))
    .addCommand(listCommand())
    .addCommand(addCommand())
    .addCommand(removeCommand());
}

function listCommand(): Command {
  return new Command("ls")
    .description("list the stored credentials, the variables they set and their files' modes")
    .option("--types", "list the types that the program knows instead")
    .addHelpText("after", examples(["al creds ls", "al creds ls --types"]))
    .action(async (options: { types?: true }, command: Command) => {
      const { listStored, listTypes } = await import("../creds/list-credentials.ts");
      const around = surroundingsOf(command);
      if (options.types) listTypes(around);
      else await listStored(around);
    });
}

function addCommand(): Command {
  return new Command("add")
    .description("store a secret, from a hidden prompt or from standard input")
    .argument("<credential>", "type, or type:instance (al creds ls --types lists the known types)")
    .option("-f, --field <field>", "the field, for a type with several")
    .option("--from-file <path>", "read the secret from this file")
    .option("--replace", "put it in the place of one that is there")
    .addHelpText(
      "after",
      examples([
        "al creds add anthropic_key",
        "pass show github | al creds add github_token:bot",
        "al creds add git_ssh --field private_key --from-file ~/.ssh/agent_ed25519",
      ]),
    )
    .action(async (reference: string, options: AddOptions, command: Command) => {
      const { addCredential } = await import("../creds/add-credential.ts");
      await addCredential(surroundingsOf(command), reference, options);
    });
}

function removeCommand(): Command {
  return new Command("rm")
    .description("remove a credential")
    .argument("<credential>", "type, or type:instance")
    .option("-f, --field <field>", "only this field")
    .option("-y, --yes", "don't ask")
    .addHelpText(
      "after",
      examples(["al creds rm github_token:bot", "al creds rm git_ssh --field private_key --yes"]),
    )
    .action(async (reference: string, options: RemoveOptions, command: Command) => {
      const { removeStored } = await import("../creds/remove-credential.ts");
      await removeStored(surroundingsOf(command), reference, options);
    });
}
