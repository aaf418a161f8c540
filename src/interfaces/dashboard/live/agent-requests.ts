import type { AgentStatus } from "../../../../streams/status/wire.ts";
import { post } from "./api.ts";
import { runAddress, pathOf } from "../text/addresses.ts";
import { announce, dismiss, showToast } from "./toasts.ts";

/** Requests a run; resolves with null after showing why it was refused. */
export function postRun(name: string, prompt: string) {
  const body = prompt.trim() === "" ? undefined : { prompt };
  return post(pathOf`/control/trigger/${name}`, body);
}

/** Starts a run; resolves with whether the scheduler accepted it. */
export async function triggerRun(name: string, prompt = ""): Promise<boolean> {
  const answer = await postRun(name, prompt);
  if (answer === null) return false;
  const { instanceId } = answer;
  if (typeof instanceId !== "string") showToast(`${name} is queued`);
  else showToast(`Started ${name}`, { words: "View run", href: runAddress(name, instanceId) });
  return true;
}

/** Disables an agent, with a way back, or enables it again. */
export async function setEnabled(name: string, isEnabled: boolean): Promise<void> {
  const path = pathOf`/control/agents/${name}`;
  const answer = await post(`${path}/${isEnabled ? "enable" : "disable"}`);
  if (answer === null) return;
  const text = `${name} disabled`;
  dismiss((toast) => toast.text === text);
  if (answer.enabled === true) announce(`${name} enabled`);
  else showToast(text, { words: "Undo", act: () => setEnabled(name, true) });
}

/** Why the scheduler would refuse to run an agent, or to enable and disable it; null if it would accept it. */
export function refusalsOf(agent: AgentStatus | null): {
  readonly run: string | null;
  readonly toggle: string | null;
} {
  if (agent === null) {
    const why = "This agent no longer exists";
    return { run: why, toggle: why };
  }
  const { enabled, scale, models } = agent;
  // Every valid config has a model: the agent had no valid config yet.
  if (models.length === 0) return { run: "It has no valid config yet", toggle: null };
  if (scale === 0) {
    const why = "Set scale in its config.toml first";
    return { run: why, toggle: why };
  }
  return { run: enabled ? null : "Enable the agent first", toggle: null };
}
