import type { Command } from "commander";
import { commandTable, isHelp } from "../../../../src/interfaces/cli/help/command-table.ts";
import type { CommandEntry } from "../../../../src/interfaces/cli/help/command-table.ts";
import { buildProgram } from "../../../../src/interfaces/cli/program.ts";

const table = commandTable(buildProgram());

function all(entry: CommandEntry): CommandEntry[] {
  return [entry, ...entry.commands.filter((inner) => !isHelp(inner)).flatMap(all)];
}

test.each(all(table).map((entry) => [entry.path.join(" "), entry] as const))(
  "the help of %s has a summary and an example",
  (path, { description, notes }) => {
    expect(description).not.toBe("");
    const [, shown = ""] = /Examples:\n((?: {2}.*\n?)+)/.exec(notes) ?? [];
    expect(shown).toContain(path);
  },
);

test("the help of every command fits a terminal of 80 columns", () => {
  const help = (command: Command): string =>
    [command.helpInformation(), ...command.commands.map(help)].join("\n");
  const lines = [help(buildProgram()), ...all(table).map(({ notes }) => notes)]
    .join("\n")
    .split("\n");
  expect(lines.filter(({ length }) => length > 80)).toEqual([]);
});
