import type { Key } from "ink";
import type { AgentStatus } from "../../../../streams/status/wire.ts";
import { counted } from "../../../foundation/contracts/format.ts";
import { messageOf } from "../../../foundation/errors.ts";
import { moved, selectedIndex, type ViewSource, type ViewState } from "./view-state.ts";

type Command =
  | "up"
  | "down"
  | "page-up"
  | "page-down"
  | "log"
  | "run"
  | "pause"
  | "kill"
  | "filter"
  | "all"
  | "stop"
  | "interrupt";

interface Binding {
  readonly command: Command;
  /** Names as returned by `keyNames`. */
  readonly keys: readonly string[];
  /** The word for the last line. */
  readonly word?: string;
}

/** All keys; the last line is made from this. */
export const bindings: readonly Binding[] = [
  { command: "stop", keys: ["q"], word: "quit" },
  { command: "log", keys: ["enter", "l"], word: "log" },
  { command: "run", keys: ["r"], word: "run" },
  { command: "pause", keys: ["p"], word: "pause" },
  { command: "kill", keys: ["K", "x"], word: "kill" },
  { command: "filter", keys: ["/"], word: "filter" },
  { command: "all", keys: ["esc"] },
  { command: "up", keys: ["up", "k"] },
  { command: "down", keys: ["down", "j"] },
  { command: "page-up", keys: ["pageup"] },
  { command: "page-down", keys: ["pagedown"] },
  { command: "interrupt", keys: ["ctrl-c"] },
];

const commands = new Map(
  bindings.flatMap(({ command, keys }) => keys.map((key) => [key, command] as const)),
);

/** The command of a key; null for a key without one. */
export function commandOf(keyName: string): Command | null {
  return commands.get(keyName) ?? null;
}

const namedKeys = [
  ...([
    ["up", "upArrow"],
    ["down", "downArrow"],
    ["enter", "return"],
    ["esc", "escape"],
    ["backspace", "backspace"],
    ["backspace", "delete"],
  ] as const),
  ...([
    ["pageup", "pageUp"],
    ["pagedown", "pageDown"],
  ] as const),
];

/** Names of keys read together: several if a person types faster than they are read. */
export function keyNames(input: string, key: Key): string[] {
  if (key.ctrl) return [`ctrl-${input}`];
  const named = namedKeys.find(([, flag]) => key[flag]);
  if (named !== undefined) return [named[0]];
  return key.meta ? [] : Array.from(input, nameOfCharacter);
}

/**
 * A control character is named by the letter that it is typed with. A terminal turns an Enter that is typed before the
 * view reads single keys into a newline.
 */
function nameOfCharacter(character: string): string {
  if (/[\r\n]/.test(character)) return "enter";
  const code = character.charCodeAt(0);
  return code > 0 && code < 27 ? `ctrl-${String.fromCharCode(code + 96)}` : character;
}

/** Everything that keys work on. */
interface KeyTargets {
  readonly source: ViewSource;
  readonly view: ViewState;
  readonly show: (change: Partial<ViewState>) => void;
  readonly agents: readonly AgentStatus[];
  /** Rows of a screen, for page up and down. */
  readonly rows: number;
  /** Gives the terminal to a program; resolves with why it failed, null on success. */
  readonly runProgram: (file: string, args: readonly string[]) => Promise<string | null>;
}

/** Carries out the command of a key. */
export function onKey(name: string, targets: KeyTargets): void {
  const { source, view, show, agents, rows } = targets;
  const command = commandOf(name);
  if (command === "interrupt") {
    source.operations.audit.recordAct({ act: "stop" });
    return source.interrupt();
  }
  if (view.question !== null) return answer(view.question, name, targets);
  if (view.isFiltering) return show(typed(view, name));
  const agent = agents[selectedIndex(view, agents)];
  const move = (by: number): void => show(moved(view, by, agents));
  switch (command) {
    case "up":
      return move(-1);
    case "down":
      return move(1);
    case "page-up":
      return move(-rows);
    case "page-down":
      return move(rows);
    case "log":
      return void openLog(agent, targets);
    case "run":
    case "kill":
      return ask(command, agent, targets);
    case "pause":
      if (source.operations.status.snapshot().scheduler.paused) return act(resume(source), targets);
      return show({ question: { command }, message: null });
    case "filter":
      return show({ isFiltering: true, message: null });
    case "all":
      return show({ filter: "" });
    case "stop":
      source.operations.audit.recordAct({ act: "stop" });
      return source.stop();
    case null:
      return;
  }
}

/** The filter after a key: Enter keeps it, Esc clears it. */
function typed({ filter }: ViewState, name: string): Partial<ViewState> {
  if (name === "enter") return { isFiltering: false };
  if (name === "esc") return { isFiltering: false, filter: "" };
  if (name === "backspace") return { filter: filter.slice(0, -1) };
  return Array.from(name).length === 1 ? { filter: filter + name } : {};
}

/** Any key but "y" is a no. */
function answer(
  question: NonNullable<ViewState["question"]>,
  name: string,
  targets: KeyTargets,
): void {
  targets.show({ question: null });
  if (name.toLowerCase() !== "y") return;
  const { source } = targets;
  if (question.command === "pause") return act(pause(source), targets);
  const { command, agent } = question;
  act(command === "run" ? runAgent(source, agent) : killAgent(source, agent), targets);
}

/** Names the agent permanently: while the question is on the screen, others may come and go. */
function ask(command: "run" | "kill", agent: AgentStatus | undefined, { show }: KeyTargets): void {
  const refuse = (text: string): void => show({ message: { text, isError: true } });
  if (agent === undefined) return refuse("no agent is selected");
  if (command === "kill" && agent.running === 0) return refuse(`${agent.name}: no run is running`);
  show({ question: { command, agent: agent.name }, message: null });
}

/** Shows the outcome of an operation in the last line. */
function act(outcome: Promise<string>, { show }: KeyTargets): void {
  outcome.then(
    (text) => show({ message: { text, isError: false } }),
    (error: unknown) => show({ message: { text: messageOf(error), isError: true } }),
  );
}

/** Follows the agent's log with `al logs -f`, until a key ends it. */
async function openLog(agent: AgentStatus | undefined, targets: KeyTargets): Promise<void> {
  if (agent === undefined) return;
  const { source, view, agents, show, runProgram } = targets;
  // The agent stays selected when others come and go meanwhile.
  show(moved(view, 0, agents));
  const al = process.argv[1] ?? "al";
  const args = [al, "logs", "-f", agent.name, "--project", source.projectDir];
  const problem = await runProgram(process.execPath, args);
  if (problem === null) return;
  show({ message: { text: `${agent.name}: al logs ${problem}`, isError: true } });
}

async function pause({ operations }: ViewSource): Promise<string> {
  await operations.perform("POST /control/pause", {});
  return "paused: scheduled runs are skipped until p";
}

async function resume({ operations }: ViewSource): Promise<string> {
  await operations.perform("POST /control/resume", {});
  return "resumed";
}

async function runAgent({ operations }: ViewSource, name: string): Promise<string> {
  const started = await operations.perform("POST /control/trigger/:name", { name });
  const { instanceId, queued } = started;
  if (instanceId !== null) return `${name}: started ${instanceId}`;
  return queued ? `${name}: queued` : `${name}: not started; its log has the reason`;
}

async function killAgent({ operations }: ViewSource, name: string): Promise<string> {
  const { killed } = await operations.perform("POST /control/agents/:name/kill", { name });
  const runs = counted(killed, "run");
  return `${name}: ending ${runs}`;
}
