import type { Key } from "ink";

/** What a key asks for. */
export type Command =
  | "up"
  | "down"
  | "page-up"
  | "page-down"
  | "first"
  | "last"
  | "run"
  | "log"
  | "pause"
  | "enable"
  | "disable"
  | "kill"
  | "search"
  | "back"
  | "help"
  | "stop"
  | "interrupt"
  | "suspend"
  | "redraw";

interface Binding {
  readonly command: Command;
  /** Names as `keyNames` gives them. */
  readonly keys: readonly string[];
  /** How a person writes the key. */
  readonly shown: string;
  /** What it does, for the help. */
  readonly does: string;
  /** A word for the last line, which has no room for all keys. */
  readonly short?: string;
}

/** All keys; the help and the last line are read from this. */
export const bindings: readonly Binding[] = [
  { command: "up", keys: ["up", "k"], shown: "up, k", does: "the agent above" },
  { command: "down", keys: ["down", "j"], shown: "down, j", does: "the agent below" },
  { command: "page-up", keys: ["pageup", "ctrl-b"], shown: "PgUp", does: "a screen up" },
  { command: "page-down", keys: ["pagedown", "ctrl-f", " "], shown: "PgDn", does: "a screen down" },
  { command: "first", keys: ["home", "g"], shown: "Home, g", does: "the first" },
  { command: "last", keys: ["end", "G"], shown: "End, G", does: "the last" },
  {
    command: "log",
    keys: ["enter", "l"],
    shown: "Enter, l",
    does: "the agent's log (al logs -f) until Ctrl-C",
    short: "log",
  },
  { command: "run", keys: ["r"], shown: "r", does: "run the agent now (asks first)", short: "run" },
  {
    command: "pause",
    keys: ["p"],
    shown: "p",
    does: "pause the schedules, or resume them",
    short: "pause",
  },
  {
    command: "disable",
    keys: ["d"],
    shown: "d",
    does: "disable the agent (asks first)",
    short: "disable",
  },
  { command: "enable", keys: ["e"], shown: "e", does: "enable it again", short: "enable" },
  {
    command: "kill",
    keys: ["K", "x"],
    shown: "K, x",
    does: "end the agent's runs (asks first)",
    short: "kill",
  },
  {
    command: "search",
    keys: ["/"],
    shown: "/",
    does: "only agents with this in their name; Enter keeps it, Esc ends it",
    short: "search",
  },
  { command: "back", keys: ["escape"], shown: "Esc", does: "back to the agents, to all of them" },
  { command: "help", keys: ["?", "h"], shown: "?", does: "this help", short: "help" },
  {
    command: "stop",
    keys: ["q"],
    shown: "q",
    does: "stop: no new runs, and the running ones get time to finish",
    short: "quit",
  },
  {
    command: "interrupt",
    keys: ["ctrl-c"],
    shown: "Ctrl-C",
    does: "the same; once more stops now",
  },
  { command: "suspend", keys: ["ctrl-z"], shown: "Ctrl-Z", does: "back to the shell until fg" },
  { command: "redraw", keys: ["ctrl-l"], shown: "Ctrl-L", does: "draw the screen again" },
];

const commands = new Map(
  bindings.flatMap(({ command, keys }) => keys.map((key) => [key, command] as const)),
);

/** What a key asks for; null when nothing. */
export function commandOf(keyName: string): Command | null {
  return commands.get(keyName) ?? null;
}

const steps = new Map<Command, (page: number) => number>([
  ["up", () => -1],
  ["down", () => 1],
  ["page-up", (page) => -page],
  ["page-down", (page) => page],
  ["first", () => -Infinity],
  ["last", () => Infinity],
]);

/** How many rows further down a key leads, with so many on a page; null for one that moves nothing. */
export function rowsBy(command: Command | null, page: number): number | null {
  return command === null ? null : (steps.get(command)?.(page) ?? null);
}

/** Names of the keys that came at once: several when a person types faster than they are read. */
export function keyNames(input: string, key: Key): string[] {
  if (key.ctrl) return [`ctrl-${input}`];
  const named = namedKeys.find(([, flag]) => key[flag]);
  if (named !== undefined) return [named[0]];
  return key.meta ? [] : Array.from(input, nameOfCharacter);
}

const namedKeys = [
  ["up", "upArrow"],
  ["down", "downArrow"],
  ["pageup", "pageUp"],
  ["pagedown", "pageDown"],
  ["home", "home"],
  ["end", "end"],
  ["enter", "return"],
  ["escape", "escape"],
  ["backspace", "backspace"],
  // What most terminals send for the backspace key.
  ["backspace", "delete"],
] as const;

/** A control character is the letter it is typed with. */
function nameOfCharacter(character: string): string {
  if (character === "\r") return "enter";
  const code = character.charCodeAt(0);
  return code > 0 && code < 27 ? `ctrl-${String.fromCharCode(code + 96)}` : character;
}
