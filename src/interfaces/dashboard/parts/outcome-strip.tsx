/** @jsxImportSource preact */
import type { AgentStatus } from "../../../../streams/status/wire.ts";
import { failedOutcomes, outcomeText } from "../../../foundation/contracts/format.ts";
import type { OutcomeCounts } from "../../../foundation/contracts/history.ts";
import { useIsLocal } from "../live/clock.ts";
import { withQuery } from "../text/addresses.ts";
import { dayTime } from "../text/format.ts";

/** Worst first: the worst outcome gives a tick its colour. `open` is work that waits or runs. */
const outcomes = [
  ...failedOutcomes,
  ...(["interrupted", "skipped", "missed", "dropped", "rejected", "killed"] as const),
  "open",
  "succeeded",
] as const;

/** How many work items ended how, in each bucket of time. */
export type Counts = OutcomeCounts["agents"][number]["counts"];

interface OutcomeStripProps {
  readonly agent: AgentStatus;
  /** Undefined if the agent had no work in these three days. */
  readonly counts: Counts | undefined;
  readonly buckets: OutcomeCounts["buckets"];
}

/** An agent's last days, a tick for each bucket. A pointer follows its link; the triggers page is for the keyboard. */
export function OutcomeStrip({ agent: { name }, counts, buckets }: OutcomeStripProps) {
  const isLocal = useIsLocal();
  if (counts === undefined) return <>–</>;
  return (
    <div class="strip" role="group" aria-label={`3 days of ${name}: ${textOf(counts)}`}>
      {buckets.map(({ since, before }, index) => {
        const count = counts[index] ?? {};
        const worst = outcomes.find((outcome) => outcome in count);
        const look = `tick ${worst === "open" ? "running" : (worst ?? "none")}`;
        if (worst === undefined || !isLocal) return <span class={look} key={since} />;
        return (
          <a
            class={look}
            key={since}
            href={withQuery("/dashboard/triggers", { agent: name, since, before })}
            title={`From ${dayTime(Date.parse(since))}: ${textOf([count])}`}
            tabIndex={-1}
          />
        );
      })}
    </div>
  );
}

/** `2 failed, 40 succeeded`. */
function textOf(counts: Counts): string {
  const texts = outcomes.flatMap((outcome) => {
    const total = counts.reduce((sum, count) => sum + (count[outcome] ?? 0), 0);
    return total === 0 ? [] : `${total} ${outcome === "open" ? "under way" : outcomeText(outcome)}`;
  });
  return texts.join(", ");
}
