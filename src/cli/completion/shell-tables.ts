import type { Described, Place } from "./places.ts";

/** A pattern of a shell's `case`: the text itself, or anything that ends in it. */
type Pattern = string | { readonly any: string };
type Branch = readonly [readonly Pattern[], string];

/**
 * The table of places as functions for bash and zsh. Each returns 1 for what is not in it; `list` makes the line
 * that returns a list.
 */
export function shellTables(
  places: readonly Place[],
  list: (items: readonly Described[]) => string,
): string {
  const reply = (text: string) => `REPLY=${quoted(text)}`;
  const tables: Readonly<Record<string, readonly Branch[]>> = {
    commands: places
      .filter(({ commands }) => commands.length > 0)
      .map(({ path, commands }) => [[path], list(commands)]),
    flags: places.map(({ path, flags }) => [[path], list(flags)]),
    value: places.flatMap((place) =>
      place.values.map(({ names, proposal }): Branch => [
        names.map((name) => (place === places[0] ? { any: ` ${name}` } : `${place.path} ${name}`)),
        reply(proposal),
      ]),
    ),
    position: places.flatMap(({ path, positions }) =>
      positions.map((proposal, index): Branch => [[`${path} ${index}`], reply(proposal)]),
    ),
  };
  return Object.entries(tables)
    .map(([name, branches]) => `__al_${name}() {\n${caseOf(branches)}\n}`)
    .join("\n\n");
}

function caseOf(branches: readonly Branch[]): string {
  const lines = branches.map(
    ([patterns, line]) => `    ${patterns.map(patternOf).join(" | ")}) ${line} ;;`,
  );
  return ['  case "$*" in', ...lines, "    *) return 1 ;;", "  esac"].join("\n");
}

function patternOf(pattern: Pattern): string {
  return typeof pattern === "string" ? quoted(pattern) : `*${quoted(pattern.any)}`;
}

/** A word in single quotes, as bash and zsh read them. */
export function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
