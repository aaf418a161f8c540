import { isHelp } from "../help/command-table.ts";
import type { CommandEntry, OptionEntry } from "../help/command-table.ts";

/**
 * What may stand somewhere, for a shell: the only words there are, names of the project's agents, or paths. An empty
 * text means that nothing can be proposed.
 */
export type Proposal = "" | "@agents" | "@directories" | "@files" | `= ${string}`;

export interface Described {
  readonly word: string;
  readonly description: string;
}

/** A command as a place on the command line. */
export interface Place {
  /** `al creds add` */
  readonly path: string;
  readonly commands: readonly Described[];
  readonly flags: readonly Described[];
  /** Only those that take a value. */
  readonly values: readonly { readonly names: readonly string[]; readonly proposal: Proposal }[];
  /** One for each argument. */
  readonly positions: readonly Proposal[];
}

/** Every place below the command, itself first. Options of `al` itself hold everywhere, and stand at `al` only. */
export function placesOf(entry: CommandEntry, everywhere: readonly string[] = []): Place[] {
  const { path, commands, options } = entry;
  const own = options.filter(({ names }) => !names.some((name) => everywhere.includes(name)));
  const known = [...everywhere, ...own.flatMap(({ names }) => names)];
  return [
    {
      path: path.join(" "),
      commands: commands.map((inner) => ({
        word: inner.path.at(-1) ?? "",
        description: inner.description,
      })),
      flags: own.flatMap(({ names, description }) => names.map((word) => ({ word, description }))),
      values: own.flatMap(valueOf),
      positions: entry.arguments.map(proposalOf),
    },
    ...commands.flatMap((inner) =>
      isHelp(inner) ? helpPlace(inner, entry) : placesOf(inner, known),
    ),
  ];
}

/** `al help` takes the commands beside it. */
function helpPlace(help: CommandEntry, { commands }: CommandEntry): Place[] {
  const names = commands.filter((inner) => !isHelp(inner)).map(({ path }) => path.at(-1) ?? "");
  return placesOf(help).map((place) => ({ ...place, positions: [`= ${names.join(" ")}`] }));
}

function valueOf({ names, value }: OptionEntry): Place["values"] {
  return value === null ? [] : [{ names, proposal: proposalOf(value) }];
}

/** By what help writes between the brackets: one name for one thing. */
const proposals: Readonly<Record<string, Proposal>> = {
  agent: "@agents",
  "agent|instance": "@agents",
  dir: "@directories",
  repo: "@directories",
  path: "@files",
  fixture: "@files",
};

function proposalOf(value: {
  readonly name: string;
  readonly choices: readonly string[];
}): Proposal {
  if (value.choices.length > 0) return `= ${value.choices.join(" ")}`;
  return Object.hasOwn(proposals, value.name) ? (proposals[value.name] ?? "") : "";
}
