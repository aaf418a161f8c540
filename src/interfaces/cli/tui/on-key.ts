import type { AgentStatus } from "../../../../streams/status/wire.ts";
import { commandOf, rowsBy } from "./keys.ts";
import type { Command } from "./keys.ts";
import type { View } from "./use-view.ts";
import type { Suspend } from "./use-suspend.ts";
import { selectedIndex } from "./view-state.ts";
import type { Message, Question, ViewSource } from "./view-state.ts";
import { counted } from "../../../foundation/contracts/format.ts";
import { messageOf } from "../../../foundation/errors.ts";

/** More than a name may have. */
const longest = 64;

/** Takes a key for the search; false for one that moves among what is found. */
function onSearchKey(name: string, view: View): boolean {
  const { search } = view.current();
  const text = search ?? "";
  const show = (next: string | null, isSearching: boolean): void =>
    view.dispatch({ type: "search", text: next, isSearching });
  if (name === "escape") show(null, false);
  else if (name === "enter") show(text === "" ? null : text, false);
  else if (name === "backspace") show(text.slice(0, -1), true);
  else if (Array.from(name).length === 1) show(`${text}${name}`.slice(0, longest), true);
  else return false;
  return true;
}

/** What keys work on. */
interface KeyTargets extends Suspend {
  readonly source: Pick<ViewSource, "operations" | "projectDir" | "stop" | "interrupt">;
  readonly view: View;
  /** The agents that are shown. */
  readonly agents: readonly AgentStatus[];
  /** Rows of a screen, for whole screens up and down. */
  readonly rows: number;
}

/** Does what a key asks for on the screen that is shown. */
export function onKey(name: string, targets: KeyTargets): void {
  const { view, source } = targets;
  const { question, isSearching, screen } = view.current();
  const command = commandOf(name);
  if (command !== null && ofTheTerminal(command, targets)) return;
  if (question !== null) return answer(question, name, targets);
  if (isSearching && onSearchKey(name, view)) return;
  if (command === "stop") return source.stop();
  if (command === null) return;
  if (screen === "agents") return onAgents(command, targets);
  if (command === "back" || command === "help") view.dispatch({ type: "show", screen: "agents" });
}

/** Any key but "y" is a no. */
function answer({ command, agent }: Question, name: string, targets: KeyTargets): void {
  targets.view.dispatch({ type: "ask", question: null });
  if (name.toLowerCase() === "y") act(command, agent, targets);
}

/** The keys that a terminal itself has a meaning for; true when it was one. */
function ofTheTerminal(command: Command, { source, suspend, redraw }: KeyTargets): boolean {
  if (command === "interrupt") source.interrupt();
  else if (command === "suspend") suspend();
  else if (command === "redraw") redraw();
  else return false;
  return true;
}

function onAgents(command: Command, targets: KeyTargets): void {
  const { view, rows } = targets;
  const agent = selectedAgent(targets);
  switch (command) {
    case "pause":
    case "enable":
      return act(command, agent?.name, targets);
    case "run":
    case "disable":
    case "kill":
      return ask(command, agent, targets);
    case "search":
      return view.dispatch({ type: "search", text: "", isSearching: true });
    case "log":
      return void openLog(agent, targets);
    case "help":
      return view.dispatch({ type: "show", screen: "help" });
    case "back":
      return view.dispatch({ type: "search", text: null, isSearching: false });
    default: {
      const by = rowsBy(command, rows);
      const names = namesOf(targets);
      if (by !== null) view.dispatch({ type: "move", by, names });
    }
  }
}

/** Follows the agent's log with `al logs -f`, until Ctrl-C ends it. */
async function openLog(agent: AgentStatus | undefined, targets: KeyTargets): Promise<void> {
  if (agent === undefined) return;
  const { source, view, runProgram } = targets;
  // Names the agent for good: it stays selected when others come and go meanwhile.
  view.dispatch({ type: "move", by: 0, names: namesOf(targets) });
  const al = process.argv[1] ?? "al";
  const args = [al, "logs", "-f", agent.name, "--project", source.projectDir];
  const problem = await runProgram(process.execPath, args);
  if (problem === null) return;
  const text = `${agent.name}: al logs ${problem}`;
  view.dispatch({ type: "message", message: { text, isError: true } });
}

/** Names the agent for good: with the question on the screen, others may come and go. */
function ask(
  command: Question["command"],
  agent: AgentStatus | undefined,
  { view }: KeyTargets,
): void {
  const no = (text: string): void =>
    view.dispatch({ type: "message", message: { text, isError: true } });
  if (agent === undefined) return no("no agent is selected");
  if (command === "kill" && agent.running === 0) return no(`${agent.name}: no run is running`);
  view.dispatch({ type: "ask", question: { command, agent: agent.name } });
}

function act(
  command: Parameters<typeof operate>[1],
  agent: string | undefined,
  { source, view }: KeyTargets,
): void {
  void operate(source, command, agent).then((message) =>
    view.dispatch({ type: "message", message }),
  );
}

function selectedAgent(targets: KeyTargets): AgentStatus | undefined {
  return targets.agents[selectedIndex(targets.view.current(), namesOf(targets))];
}

function namesOf({ agents }: KeyTargets): readonly string[] {
  return agents.map(({ name }) => name);
}

type Operate = Extract<Command, "run" | "pause" | "enable" | "disable" | "kill">;

/** Does what a key asks for; what became of it, for the last line. Never rejects. */
async function operate(
  { operations }: Pick<ViewSource, "operations">,
  command: Operate,
  agent: string | undefined,
): Promise<Message> {
  try {
    if (command === "pause") return { text: await togglePause(operations), isError: false };
    if (agent === undefined) return { text: "no agent is selected", isError: true };
    return { text: await onAgent(operations, command, agent), isError: false };
  } catch (error) {
    return { text: messageOf(error), isError: true };
  }
}

async function togglePause(operations: ViewSource["operations"]): Promise<string> {
  const paused = !operations.snapshot().scheduler.paused;
  await operations.setPaused(paused);
  return paused ? "paused: cron ticks are skipped until p" : "resumed";
}

async function onAgent(
  operations: ViewSource["operations"],
  command: Exclude<Operate, "pause">,
  name: string,
): Promise<string> {
  switch (command) {
    case "run": {
      const { instanceId, queued } = await operations.trigger(name, null);
      if (instanceId !== null) return `${name}: started ${instanceId}`;
      return queued ? `${name}: queued` : `${name}: not started; its log says why`;
    }
    case "enable":
    case "disable":
      await operations.setEnabled(name, command === "enable");
      return `${name}: ${command}d`;
    case "kill": {
      const killed = await operations.killAgent(name);
      return `${name}: ending ${counted(killed, "run")}`;
    }
  }
}
