import type { Described, Place } from "./places.ts";

/** The completion script for fish 3 and newer. */
export function fishCompletion(places: readonly Place[]): string {
  const [everywhere] = places;
  const tables = [
    fishTable(
      "commands",
      places.flatMap(({ path, commands }) => withLines(path, commands)),
    ),
    fishTable(
      "flags",
      places.flatMap(({ path, flags }) => withLines(path, flags)),
    ),
    fishTable(
      "value",
      places.flatMap((place) =>
        place.values.map(({ names, proposal }) => {
          const start = place === everywhere ? "*" : place.path;
          return [names.map((name) => `${start} ${name}`), [proposal]] as const;
        }),
      ),
    ),
    fishTable(
      "position",
      places.flatMap(({ path, positions }) =>
        positions.map((proposal, index) => [[`${path} ${index}`], [proposal]] as const),
      ),
    ),
  ];
  return `# fish completion for al. For this shell: al completion fish | source\n\n${tables.join("\n\n")}\n\n${walker}`;
}

type Branch = readonly [readonly string[], readonly string[]];

function withLines(path: string, items: readonly Described[]): Branch[] {
  if (items.length === 0) return [];
  return [[[path], items.map(({ word, description }) => `${word}\t${description}`)]];
}

/** A function that prints a line for each item, and fails for what is not in it. */
function fishTable(name: string, branches: readonly Branch[]): string {
  const cases = branches.map(([patterns, lines]) => {
    const printed = lines.map(quoted).join(" ");
    return `        case ${patterns.map(quoted).join(" ")}\n            printf '%s\\n' ${printed}`;
  });
  return `function __al_${name}\n    switch "$argv"\n${cases.join("\n")}\n        case '*'\n            return 1\n    end\nend`;
}

function quoted(text: string): string {
  return `'${text.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`;
}

/** Goes along the words before the cursor to see where it stands; fish leaves `--flag=value` in one piece. */
const walker = String.raw`function __al_propose
    set -l before $argv[4]
    switch $argv[1]
        case @agents
            for entry in $argv[3]/agents/*/config.toml
                set -l name (string replace -r '.*/([^/]+)/config.toml$' '$1' -- $entry)
                string match -qr '^[a-z0-9][a-z0-9-]*$' -- $name; and echo $before$name
            end
        case @directories
            for found in (__fish_complete_directories $argv[2] '')
                echo $before$found
            end
        case @files
            for found in (__fish_complete_path $argv[2])
                echo $before$found
            end
        case '= *'
            for word in (string split ' ' -- (string sub -s 3 -- $argv[1]))
                echo $before$word
            end
    end
end

function __al_complete
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    set -l here al
    set -l project .
    set -l flag ''
    set -l count 0
    set -l ended ''
    set -l before ''
    for word in $words[2..-1]
        if string match -q -- '--project=*' $word
            set flag --project
            set word (string replace -- '--project=' '' $word)
        end
        if test -n "$flag"
            if contains -- $flag -p --project
                set project (string replace -r '^~' $HOME -- $word)
            end
            set flag ''
        else if test -n "$ended"
            set count (math $count + 1)
        else if test "$word" = --
            set ended 1
        else if string match -q -- '-*' $word
            __al_value $here $word >/dev/null; and set flag $word
        else if test $count = 0; and contains -- $word (__al_commands $here | string replace -r '\t.*' '')
            set here "$here $word"
        else
            set count (math $count + 1)
        end
    end
    if test -z "$flag$ended"; and string match -q -- '--*=*' $current
        set flag (string replace -r '=.*' '' -- $current)
        set before $flag=
        set current (string replace -r '^[^=]*=' '' -- $current)
    end
    if test -n "$flag"
        __al_propose (__al_value $here $flag; or echo) "$current" $project $before
    else if test -z "$ended"; and string match -q -- '-*' $current
        __al_flags $here
        test $here = al; or __al_flags al
    else if test -z "$ended"; and test $count = 0; and __al_commands $here
        return
    else
        __al_propose (__al_position $here $count; or echo) "$current" $project ''
    end
end

complete -c al -e
complete -c al -f -a '(__al_complete)'
`;
