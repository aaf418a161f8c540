import type { AgentStatus } from "../../../../streams/status/wire.ts";
import { counted } from "../../../foundation/contracts/format.ts";
import {
  disabledText,
  gatheringText,
  runningCostText,
  stateText,
} from "../../views/agent-columns.ts";
import { refusalsOf, triggerRun } from "../live/agent-requests.ts";
import { post } from "../live/api.ts";
import { useTicking } from "../live/clock.ts";
import { announce } from "../live/toasts.ts";
import { questionsAddress, pathOf } from "../text/addresses.ts";
import { joined } from "../text/format.ts";
import { Action } from "../kit/action.tsx";

interface AgentHeadProps {
  /** The agent as it is now; null if it was removed. */
  readonly agent: AgentStatus | null;
}

/** The state of an agent in the head of a page; `more` follows its load. */
export function AgentState({
  agent,
  more = [],
}: AgentHeadProps & { readonly more?: readonly string[] }) {
  const disabled = agent && disabledText(agent);
  const gathering = useTicking((now) => agent && gatheringText(agent, now));
  return (
    <>
      {agent?.blockedBy === "person" ? (
        <a class="pill waiting" id="state" href={questionsAddress(agent.name)}>
          {stateText(agent)}
        </a>
      ) : (
        <span class={`pill ${agent?.state ?? ""}`} id="state">
          {agent === null ? "gone" : stateText(agent)}
        </span>
      )}
      <span class="pill off" id="disabled" hidden={disabled === null}>
        {disabled}
      </span>
      <span class="muted" id="load">
        {agent !== null && joined([...loadOf(agent), gathering, ...more])}
      </span>
    </>
  );
}

function loadOf(agent: AgentStatus) {
  const { running, scale, queued, queueSize } = agent;
  return [
    running > 0 && `${running} of ${scale} running`,
    runningCostText(agent),
    queued > 0 && `${queued} of ${queueSize} queued`,
  ];
}

/** The button that kills an agent's runs, after a question. */
export function KillRuns({ name, running }: { readonly name: string; readonly running: number }) {
  const runs = counted(running, "run");
  const kill = async (): Promise<void> => {
    const answer = await post(pathOf`/control/agents/${name}/kill`);
    if (answer !== null) announce(`Killed ${counted(answer.killed ?? 0, "run")} of ${name}`);
  };
  return (
    <Action
      act={kill}
      id="kill"
      class="button acts danger"
      label={`Kill ${runs} of ${name}`}
      question={`Really kill ${runs}?`}
      hidden={running === 0}
    >
      Kill
    </Action>
  );
}

/** The button that starts the runs of gathering deliveries now. */
export function StartNow({ name, agent }: NamedAgentProps) {
  const start = async (): Promise<void> => {
    const answer = await post(pathOf`/control/agents/${name}/start-now`);
    if (answer !== null) announce(`Started ${counted(answer.runs ?? 0, "run")} of ${name}`);
  };
  return (
    <Action act={start} id="start-now" hidden={agent?.gathering === undefined}>
      Start now
    </Action>
  );
}

export type NamedAgentProps = AgentHeadProps & { readonly name: string };

/** The button that runs an agent now. */
export function RunAgent({ name, agent }: NamedAgentProps) {
  return (
    <Action
      act={() => triggerRun(name)}
      id="run"
      class="button acts primary"
      whyNot={refusalsOf(agent).run}
    >
      Run
    </Action>
  );
}
