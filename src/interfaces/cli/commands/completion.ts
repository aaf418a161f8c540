import { Argument } from "commander";
import type { Shell } from "../completion/scripts.ts";
import { globalContextOf } from "../context.ts";
import { AlCommand } from "../help/al-command.ts";

/** `al completion bash|zsh|fish` */
export function completionCommand(): AlCommand {
  return new AlCommand("completion")
    .description("print a shell's completion script for commands, options, names and ids")
    .addArgument(new Argument("<shell>", "the shell").choices(["bash", "zsh", "fish"]))
    .examples(
      "source <(al completion bash)            # in ~/.bashrc",
      "source <(al completion zsh)             # in ~/.zshrc, behind compinit",
      "al completion fish > ~/.config/fish/completions/al.fish",
    )
    .action(async (shell: Shell, _options: unknown, command: AlCommand) => {
      const { completionScripts } = await import("../completion/scripts.ts");
      const { out } = globalContextOf(command);
      const script = completionScripts[shell];
      if (out.json) out.document({ shell, script });
      else out.data(script.trimEnd());
    });
}

/** `al _complete -- <word>…`: called by the script of a shell with the words up to the cursor. */
export function completeCommand(): AlCommand {
  return new AlCommand("_complete")
    .argument("[word...]")
    .action(async (words: readonly string[], _options: unknown, command: AlCommand) => {
      const { commandTable } = await import("../help/command-table.ts");
      const { complete } = await import("../completion/complete.ts");
      const { out } = globalContextOf(command);
      const lines = await complete(commandTable(command.parent ?? command), words);
      for (const line of lines) out.data(line);
    });
}
