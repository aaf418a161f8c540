import { counted } from "../../contracts/format.ts";
import { messageOf } from "../../errors.ts";
import type { Command } from "./keys.ts";
import type { ViewSource } from "./view-source.ts";
import type { Message } from "./view-state.ts";

type Operate = Extract<Command, "run" | "pause" | "enable" | "disable" | "kill">;

/** Does what a key asks for; what became of it, for the last line. Never rejects. */
export async function operate(
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
