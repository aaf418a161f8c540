import { isHelp, type CommandEntry, type OptionEntry } from "./help/command-table.ts";

/** The page of all commands, in Markdown, from help's texts. */
export function referencePage(table: CommandEntry): string {
  const leaves = commandsBelow(table);
  const everywhere = table.options.flatMap(({ names }) => names);
  return `${[
    "# Commands",
    "The output of `al help <command>` for all commands.",
    tableOf(["command", "does"], leaves.map(summaryRow)),
    "## Every command",
    optionTable(table.options),
    "Data goes to standard output, everything else to standard error. `NO_COLOR` is respected. Off a terminal, no command prompts: the error names the missing option.",
    ...notesOf(table.notes),
    ...leaves.flatMap((entry) => section(entry, everywhere)),
  ].join("\n\n")}\n`;
}

/** Commands with an action; groups only contain them. */
function commandsBelow({ commands }: CommandEntry): CommandEntry[] {
  return commands
    .filter((entry) => !isHelp(entry))
    .flatMap((entry) => (entry.commands.length === 0 ? [entry] : commandsBelow(entry)));
}

function summaryRow({ path, description }: CommandEntry): string[] {
  const name = path.join(" ");
  return [`[\`${name}\`](#${path.join("-")})`, description];
}

function section(entry: CommandEntry, everywhere: readonly string[]): string[] {
  const { path, description, usage, notes } = entry;
  const own = entry.options.filter(({ names }) => !names.some((name) => everywhere.includes(name)));
  return [
    `## ${path.join(" ")}`,
    `${description}.`,
    block(usage),
    ...(entry.arguments.length === 0 ? [] : [argumentTable(entry)]),
    ...(own.length === 0 ? [] : [optionTable(own)]),
    ...notesOf(notes),
  ];
}

function argumentTable(entry: CommandEntry): string {
  const rows = entry.arguments.map(({ name, description, choices, isRequired }) => {
    const one = choices.length === 0 ? "" : ` (${choices.join(", ")})`;
    return [`\`${isRequired ? `<${name}>` : `[${name}]`}\``, `${description}${one}`];
  });
  return tableOf(["argument", "is"], rows);
}

function optionTable(options: readonly OptionEntry[]): string {
  const rows = options.map(({ flags, description }) => [`\`${flags}\``, description]);
  return tableOf(["option", "does"], rows);
}

/** `Examples:` and `Exit codes:`, each followed by indented lines. */
function notesOf(notes: string): string[] {
  return notes.split("\n\n").map((part) => {
    const [title = "", ...lines] = part.split("\n");
    return `${title}\n\n${block(lines.map((line) => line.slice(2)).join("\n"))}`;
  });
}

function block(text: string): string {
  return `\`\`\`\n${text}\n\`\`\``;
}

function tableOf(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const lines = [head, head.map(() => "---"), ...rows.map((row) => row.map(cell))];
  return lines.map((row) => `| ${row.join(" | ")} |`).join("\n");
}

function cell(text: string): string {
  return text.replaceAll("|", "\\|");
}
