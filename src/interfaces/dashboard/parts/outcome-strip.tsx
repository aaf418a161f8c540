import type { AgentStatus } from "../../../../streams/status/wire.ts";
import { counted, outcomeText } from "../../../foundation/contracts/format.ts";
import type { LatestRuns } from "../../../foundation/contracts/history.ts";
import { useIsLocal } from "../live/clock.ts";
import { runAddress } from "../text/addresses.ts";
import { exactTime } from "../text/format.ts";

/** The runs of an agent, the oldest first. */
export type Runs = LatestRuns["agents"][number]["runs"];

interface OutcomeStripProps {
  readonly agent: AgentStatus;
  /** Undefined before they are known. */
  readonly runs: Runs | undefined;
}

/** A tick for each of the agent's latest runs, which leads to it. One of them is a tab stop: the arrow keys go to the others. */
export function OutcomeStrip({ agent: { name }, runs = [] }: OutcomeStripProps) {
  const isLocal = useIsLocal();
  if (runs.length === 0) return <>–</>;
  const label = `Last ${counted(runs.length, "run")} of ${name}: ${countsText(runs)}`;
  return (
    <div class="strip" role="group" aria-label={label} onKeyDown={moveFocus}>
      {runs.map(({ instanceId, outcome, at }, index) => {
        const look = `tick ${outcome}`;
        if (!isLocal) return <span class={look} key={instanceId} />;
        return (
          <a
            class={look}
            key={instanceId}
            href={runAddress(name, instanceId)}
            title={`${name} ${outcomeText(outcome)}, ${exactTime(Date.parse(at))}`}
            tabIndex={index === runs.length - 1 ? undefined : -1}
          />
        );
      })}
    </div>
  );
}

const siblings: Readonly<Partial<Record<string, (tick: Element) => Element | null | undefined>>> = {
  ArrowLeft: (tick) => tick.previousElementSibling,
  ArrowRight: (tick) => tick.nextElementSibling,
  Home: (tick) => tick.parentElement?.firstElementChild,
  End: (tick) => tick.parentElement?.lastElementChild,
};

function moveFocus(event: KeyboardEvent): void {
  const next = event.target instanceof Element && siblings[event.key]?.(event.target);
  if (!(next instanceof HTMLElement)) return;
  event.preventDefault();
  next.focus();
}

/** `2 failed, 18 succeeded`. */
function countsText(runs: Runs): string {
  const counts = Map.groupBy(runs, ({ outcome }) => outcomeText(outcome));
  return [...counts].map(([outcome, { length }]) => `${length} ${outcome}`).join(", ");
}
