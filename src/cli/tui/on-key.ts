import type { AgentStatus, StatusSnapshot } from "../../../streams/status/wire.ts";
import { commandOf, rowsBy } from "./keys.ts";
import type { Command } from "./keys.ts";
import type { View } from "./use-view.ts";
import { selectedIndex } from "./view-state.ts";
import type { Message, ViewSource } from "./view-state.ts";
import { counted } from "../../contracts/format.ts";
import { messageOf } from "../../errors.ts";

/** What keys work on. */
interface KeyTargets {
  readonly source: Pick<ViewSource, "operations" | "stop" | "interrupt">;
  readonly view: View;
  readonly snapshot: StatusSnapshot;
  /** Rows of a screen, for whole screens up and down. */
  readonly rows: number;
  readonly suspend: () => void;
  readonly redraw: () => void;
}

/** Does what a key asks for on the screen that is shown. Scrolling a log is the log's own affair. */
export function onKey(name: string, targets: KeyTargets): void {
  const { view, source } = targets;
  const { asksToKill, screen } = view.current();
  const command = commandOf(name);
  if (command !== null && ofTheTerminal(command, targets)) return;
  if (asksToKill !== null) {
    view.dispatch({ type: "ask-to-kill", agent: null });
    if (name.toLowerCase() === "y") act("kill", asksToKill, targets);
    return;
  }
  if (command === "stop") return source.stop();
  if (command === null) return;
  if (screen === "agents") return onAgents(command, targets);
  const isBack = command === "back" || (screen === "help" && command === "help");
  if (isBack) view.dispatch({ type: "show", screen: "agents" });
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
  const { view, snapshot, rows } = targets;
  const agent = selectedAgent(targets);
  switch (command) {
    case "run":
    case "pause":
    case "enable":
    case "disable":
      return act(command, agent?.name, targets);
    case "kill":
      return askToKill(agent, targets);
    case "log":
      return openLog(agent, targets);
    case "help":
      return view.dispatch({ type: "show", screen: "help" });
    case "back":
      return view.dispatch({ type: "message", message: null });
    default: {
      const by = rowsBy(command, rows);
      const names = snapshot.agents.map(({ name }) => name);
      if (by !== null) view.dispatch({ type: "move", by, names });
    }
  }
}

/** Names the agent first: the log stays its own when a row comes above it. */
function openLog(agent: AgentStatus | undefined, { view, snapshot }: KeyTargets): void {
  if (agent === undefined) return;
  view.dispatch({ type: "move", by: 0, names: snapshot.agents.map(({ name }) => name) });
  view.dispatch({ type: "show", screen: "log" });
}

/** Names the agent for good: with the question on the screen, others may come and go. */
function askToKill(agent: AgentStatus | undefined, { view }: KeyTargets): void {
  if (agent === undefined || agent.running === 0) {
    const text = agent === undefined ? "there is no agent yet" : `${agent.name}: no run is running`;
    return view.dispatch({ type: "message", message: { text, isError: true } });
  }
  view.dispatch({ type: "ask-to-kill", agent: agent.name });
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

function selectedAgent({ view, snapshot: { agents } }: KeyTargets): AgentStatus | undefined {
  const names = agents.map(({ name }) => name);
  return agents[selectedIndex(view.current(), names)];
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
    if (agent === undefined) return { text: "there is no agent yet", isError: true };
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
