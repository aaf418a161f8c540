import type { ComponentChildren } from "preact";
import type { AgentStatus } from "../../../../../streams/status/wire.ts";
import { plainText } from "../../../../foundation/contracts/plain-text.ts";
import { durationText } from "../../../../../streams/duration-text.ts";
import type { RunView } from "../../../../runtime/runs/run-view.ts";
import { runCostText, tokensText } from "../../../views/run-facts.ts";
import { agentAddress } from "../../text/addresses.ts";
import { joined } from "../../text/format.ts";
import { Duration, ListTime } from "../../kit/time.tsx";
import { runningSince, triggerWords } from "../../runs/trigger-words.ts";

interface StripProps {
  readonly run: RunView;
  /** The run's agent as it is now; null if it was removed. */
  readonly agent: AgentStatus | null;
  readonly look: string;
  readonly state: string;
}

/** A run in one line: outcome, trigger, times, cost and model. */
export function Strip({ run, agent, look, state }: StripProps) {
  const { startedAt, source, model } = run;
  const [cost, calls] = runCostText(run)?.split(" in ") ?? [];
  const tokens = tokensText(run);
  return (
    <dl class="panel strip" id="strip">
      <Figure name="Outcome" below={endText(run)}>
        <span class={`pill ${look}`} id="state">
          {state}
        </span>
      </Figure>
      <Figure name="Agent">
        <a href={agentAddress(run.agent)}>{run.agent}</a>
      </Figure>
      <Figure name="Trigger" below={run.kind === "webhook" ? source : null}>
        {triggerWords(run)}
      </Figure>
      <Figure name="Started" below={waitText(run)}>
        {startedAt === null ? "not started" : <ListTime at={startedAt} />}
      </Figure>
      <Figure name="Duration" hidden={startedAt === null}>
        <span id="standing">
          <Duration ms={run.durationMs} since={runningSince(run)} />
        </span>
      </Figure>
      <Figure name="Cost" below={calls} hidden={cost === undefined}>
        {cost}
      </Figure>
      <Figure name="Model" below={joined([agent?.runtime, tokens && `${tokens} tokens`], ", ")}>
        {model ?? agent?.models[0] ?? "–"}
      </Figure>
    </dl>
  );
}

interface FigureProps {
  readonly name: string;
  /** A muted line below the figure. */
  readonly below?: string | null | undefined;
  readonly hidden?: boolean;
  readonly children: ComponentChildren;
}

function Figure({ name, below, hidden, children }: FigureProps) {
  return (
    <div hidden={hidden}>
      <dt>{name}</dt>
      <dd>{children}</dd>
      {below && <dd class="sub">{plainText(below)}</dd>}
    </div>
  );
}

/** `exit 7, attempt 2`; empty for a first attempt that went well. */
function endText({ exitCode, attempt }: RunView): string {
  const code = exitCode === null || exitCode === 0 ? null : `exit ${exitCode}`;
  return joined([code, attempt > 1 && `attempt ${attempt}`], ", ");
}

/** Shorter waits are the scheduler's own work. */
const leastWaitMs = 1_000;

/** How long a run waited for its start; null for a moment. */
function waitText({ at, startedAt, late }: RunView): string | null {
  const waited = startedAt === null ? 0 : Date.parse(startedAt) - Date.parse(at);
  return late ?? (waited < leastWaitMs ? null : `${durationText(waited)} waited`);
}
