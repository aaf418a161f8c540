import type { CommandEntry } from "../help/command-table.ts";
import { bashCompletion } from "./bash.ts";
import { fishCompletion } from "./fish.ts";
import { placesOf } from "./places.ts";
import type { Place } from "./places.ts";
import { zshCompletion } from "./zsh.ts";

const scripts: Readonly<Record<Shell, (places: readonly Place[]) => string>> = {
  bash: bashCompletion,
  zsh: zshCompletion,
  fish: fishCompletion,
};

export type Shell = "bash" | "zsh" | "fish";

/** The script that makes a shell complete the commands of the table, their options, paths and agents. */
export function completionScript(shell: Shell, table: CommandEntry): string {
  return scripts[shell](placesOf(table));
}
