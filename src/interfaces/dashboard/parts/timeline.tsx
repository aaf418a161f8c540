/** @jsxImportSource preact */
import { useEffect, useState } from "preact/hooks";
import type { AgentStatus } from "../../../../streams/status/wire.ts";
import { counted, failedOutcomes, outcomeText } from "../../../foundation/contracts/format.ts";
import type { OutcomeCounts } from "../../../foundation/contracts/history.ts";
import { useIsLocal } from "../live/clock.ts";
import { remember, remembered } from "../live/remember.ts";
import { useDocument } from "../live/use-document.ts";
import { agentAddress, withQuery } from "../text/addresses.ts";
import { dayTime } from "../text/format.ts";
import { Unfold } from "./table.tsx";

/** Looks of buckets and their outcomes, worst first: the worst outcome gives a bucket its look. */
const looks = [
  ["error", failedOutcomes],
  ["held", ["interrupted", "skipped", "missed", "dropped", "rejected"]],
  ["off", ["killed"]],
  ["running", ["open"]],
  ["good", ["succeeded"]],
] as const;
const outcomes = looks.flatMap(([look, names]) => names.map((outcome) => ({ look, outcome })));
const pauseMs = 5_000;
const maxLanes = 50;

interface TimelineProps {
  readonly first: OutcomeCounts | null;
  /** The agents that are shown, in their order. */
  readonly agents: readonly AgentStatus[];
}

/** The outcomes of the last days: a strip of buckets for all agents, which unfolds into one for each agent. */
export function Timeline({ first, agents }: TimelineProps) {
  const { value } = useDocument<OutcomeCounts>(() => "/api/stats/outcomes", {
    first,
    isQuiet: true,
    on: ({ agents: changed }) => changed !== undefined,
    pauseMs,
  });
  const [isOpen, setOpen] = useState(false);
  useEffect(() => setOpen(remembered("timeline-open") === "true"), []);
  const toggle = (): void => {
    remember("timeline-open", String(!isOpen));
    setOpen(!isOpen);
  };
  if (value === null) return null;
  const { buckets } = value;
  const byName = new Map(value.agents.map((agent) => [agent.name, agent]));
  const lanes = agents.flatMap(({ name }) => byName.get(name) ?? []);
  const all = buckets.map((_, index) => sum(lanes.map(({ counts }) => counts[index] ?? {})));
  const more = lanes.length - maxLanes;
  return (
    <section class="panel timeline" id="timeline" aria-labelledby="timeline-title">
      <div class="lane">
        <h2 id="timeline-title">
          <Unfold isOpen={isOpen} onToggle={toggle} class="timeline-open" label="Timeline">
            Timeline
          </Unfold>
        </h2>
        <Strip name="All agents" agent={null} counts={all} buckets={buckets} />
        <span class="muted" id="timeline-summary">
          3 days: {textOf(sum(all))}
        </span>
      </div>
      <ol id="timeline-lanes" hidden={!isOpen}>
        {isOpen &&
          lanes.slice(0, maxLanes).map(({ name, counts }) => (
            <li class="lane" key={name}>
              <a class="lane-label" href={agentAddress(name)}>
                {name}
              </a>
              <Strip name={name} agent={name} counts={counts} buckets={buckets} />
              <span class="muted">{textOf(sum(counts))}</span>
            </li>
          ))}
        {more > 0 && <li class="muted">and {counted(more, "more agent")}: filter to find them</li>}
      </ol>
    </section>
  );
}

/** How many work items ended how. */
type Counts = Readonly<Record<string, number>>;

interface StripProps {
  readonly name: string;
  /** Null for all agents. */
  readonly agent: string | null;
  readonly counts: readonly Counts[];
  readonly buckets: OutcomeCounts["buckets"];
}

/** Each bucket leads to its work by pointer; by keyboard the triggers page does. */
function Strip({ name, agent, counts, buckets }: StripProps) {
  const isLocal = useIsLocal();
  return (
    <div class="strip" role="group" aria-label={`${name}: ${textOf(sum(counts))}`}>
      {buckets.map(({ since, before }, index) => {
        const count = counts[index] ?? {};
        const [worst] = worstFirst(count);
        if (worst === undefined) return <span class="bucket" key={since} />;
        const when = isLocal ? `From ${dayTime(Date.parse(since))}: ` : "";
        return (
          <a
            class={`bucket ${worst.look}`}
            key={since}
            href={withQuery("/dashboard/triggers", { agent, since, before })}
            title={when + textOf(count)}
            aria-label={when + textOf(count)}
            tabIndex={-1}
          >
            {worst.look === "error" && count[worst.outcome]}
          </a>
        );
      })}
    </div>
  );
}

function worstFirst(count: Counts) {
  return outcomes.filter(({ outcome }) => outcome in count);
}

/** `2 failed, 40 succeeded`. */
function textOf(count: Counts): string {
  const texts = worstFirst(count).map(
    ({ outcome }) => `${count[outcome]} ${outcome === "open" ? "under way" : outcomeText(outcome)}`,
  );
  return texts.join(", ") || "no run";
}

function sum(counts: readonly Counts[]): Counts {
  const total: Record<string, number> = {};
  for (const [outcome, count] of counts.flatMap(Object.entries<number>)) {
    total[outcome] = (total[outcome] ?? 0) + count;
  }
  return total;
}
