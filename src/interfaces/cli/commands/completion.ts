import { Argument } from "commander";
import type { Shell } from "../completion/scripts.ts";
import { globalContextOf, type GlobalContext } from "../context.ts";
import type { AlCommand, Commands } from "../help/al-command.ts";

/** The completion of command lines. */
export const completionCommands = {
  completion: (command) =>
    command
      .description("Print a completion script for a shell")
      .addArgument(new Argument("<shell>", "Shell").choices(["bash", "zsh", "fish"]))
      .examples(
        "source <(al completion bash)            # in ~/.bashrc",
        "source <(al completion zsh)             # in ~/.zshrc, behind compinit",
        "al completion fish > ~/.config/fish/completions/al.fish",
      )
      .doesAnywhere(() => Promise.resolve(printScript)),
  // Called by the script of a shell with the words up to the cursor: `al _complete -- <word>…`.
  _complete: (command) =>
    command
      .argument("[word...]")
      .action(async (words: readonly string[], _options: unknown, self: AlCommand) => {
        const { commandTable } = await import("../help/command-table.ts");
        const { complete } = await import("../completion/complete.ts");
        const { out } = globalContextOf(self);
        const lines = await complete(commandTable(self.parent ?? self), words);
        for (const line of lines) out.data(line);
      }),
} satisfies Commands;

async function printScript({ out }: GlobalContext, shell: Shell): Promise<void> {
  const { completionScripts } = await import("../completion/scripts.ts");
  const script = completionScripts[shell];
  if (out.json) out.document({ shell, script });
  else out.data(script.trimEnd());
}
