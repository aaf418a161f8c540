import { Argument, Command } from "commander";
import type { Shell } from "../completion/completion-script.ts";
import { surroundingsOf } from "../context.ts";
import { examples } from "../help/examples.ts";

/** `al completion bash|zsh|fish` */
export function completionCommand(): Command {
  return new Command("completion")
    .description("print the script by which a shell completes commands, options and agents")
    .addArgument(new Argument("<shell>", "whose").choices(["bash", "zsh", "fish"]))
    .addHelpText(
      "after",
      examples([
        "source <(al completion bash)            # in ~/.bashrc",
        "source <(al completion zsh)             # in ~/.zshrc, behind compinit",
        "al completion fish > ~/.config/fish/completions/al.fish",
      ]),
    )
    .action(async (shell: Shell, _options: unknown, command: Command) => {
      const { commandTable } = await import("../help/command-table.ts");
      const { completionScript } = await import("../completion/completion-script.ts");
      const { out } = surroundingsOf(command);
      const script = completionScript(shell, commandTable(command.parent ?? command));
      if (out.json) out.document({ shell, script });
      else out.data(script.trimEnd());
    });
}
