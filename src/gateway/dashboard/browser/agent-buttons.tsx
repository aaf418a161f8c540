import type { AgentStatus } from "../../../../streams/status/wire.ts";
import { announce, post } from "./actions.ts";
import { Button } from "./buttons.tsx";

/** Starts a run; resolves with whether the scheduler accepted it. */
export async function triggerRun(name: string, prompt = ""): Promise<boolean> {
  const body = prompt.trim() === "" ? undefined : { prompt };
  const answer = await post(`/control/trigger/${encodeURIComponent(name)}`, body);
  if (answer !== null) announce(`${name} ${answer.queued === true ? "is queued" : "was started"}`);
  return answer !== null;
}

async function setEnabled(name: string, isEnabled: boolean): Promise<void> {
  const path = `/control/agents/${encodeURIComponent(name)}`;
  const answer = await post(`${path}/${isEnabled ? "enable" : "disable"}`);
  if (answer !== null) announce(`${name} ${answer.enabled === true ? "enabled" : "disabled"}`);
}

/** Disables an agent, or enables it again. */
export function ToggleButton(props: {
  readonly agent: AgentStatus;
  readonly whyNot: string | null;
  readonly id?: string;
  readonly label?: string;
}) {
  const { agent, label, ...button } = props;
  const { name, enabled } = agent;
  const word = enabled ? "Disable" : "Enable";
  return (
    <Button
      {...button}
      class="button acts"
      label={label === undefined ? undefined : `${word} ${label}`}
      onPress={() => setEnabled(name, !enabled)}
    >
      {word}
    </Button>
  );
}

/** Why an agent can't be run, or not be enabled and disabled: the scheduler would refuse it. Null when it can. */
export function refusalsOf({ enabled, scale, models }: AgentStatus): {
  readonly run: string | null;
  readonly toggle: string | null;
} {
  // Every valid config has a model, so there was none yet.
  if (models.length === 0) return { run: "It has no valid config yet", toggle: null };
  if (scale === 0) {
    const why = "Set scale in its config.toml first";
    return { run: why, toggle: why };
  }
  return { run: enabled ? null : "Enable the agent first", toggle: null };
}
