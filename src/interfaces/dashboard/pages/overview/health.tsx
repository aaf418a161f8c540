import type { ComponentChildren } from "preact";
import type { HourlyRuns } from "../../../../foundation/contracts/history.ts";
import { projectScope } from "../../../../foundation/contracts/budget.ts";
import type { SpendAnswer } from "../../../../features/spend/spend-report.ts";
import { dollars } from "../../../../features/spend/spend-text.ts";
import { useIsLocal } from "../../live/clock.ts";
import { useDocument, type FirstDocument } from "../../live/use-document.ts";
import { isDay, listTime } from "../../text/format.ts";
import { queryOf, type AgentFilter } from "./agent-filter.ts";
import type { AgentCounts } from "./filters.tsx";

/** Documents of the figures, which the status does not have. */
export interface HealthDocuments {
  readonly hours: FirstDocument<HourlyRuns>;
  readonly spend: FirstDocument<SpendAnswer>;
}

export const hoursPath = (): string => "/api/stats/hours";
export const todayPath = (): string => "/api/spend?by=day&days=1";

interface HealthProps extends HealthDocuments {
  readonly counts: AgentCounts;
  readonly questions: number;
  readonly filter: AgentFilter;
  readonly change: (part: Partial<AgentFilter>) => void;
}

/** The runs and limits of a day change slowly: they are not read for each run. */
const [hoursPauseMs, limitsPauseMs] = [10_000, 60_000];

/** What a person looks at first: how many agents need something, today's spending, and how the runs of a day ended. */
export function Health({ counts, questions, filter, change, hours, spend }: HealthProps) {
  const answer = useDocument(todayPath, { ...spend, pauseMs: limitsPauseMs, isQuiet: true });
  const today = answer.value?.limits.find((one) => one.scope === projectScope && isDay(one));
  // The limit's own sum is older, but has removed agents.
  const usd = Math.max(counts.usd, today?.usd ?? 0);
  const limit = today?.limit ?? null;
  const figureOf = (state: "error" | "running", words: string) => {
    const count = counts.groups[state] ?? 0;
    const isChosen = filter.state === state;
    return (
      <Figure
        tone={count === 0 ? "muted" : state}
        href={`/dashboard?${queryOf({ ...filter, state })}`}
        isCurrent={isChosen}
        follow={() => change({ state: isChosen ? "" : state })}
        value={count.toLocaleString("en")}
      >
        {words}
      </Figure>
    );
  };
  return (
    <section class="health" id="health" aria-label="Health" hidden={counts.all === 0}>
      {figureOf("error", "failing")}
      <Figure
        tone={questions === 0 ? "muted" : "asking"}
        href="/dashboard/questions"
        value={questions.toLocaleString("en")}
      >
        waiting for you
      </Figure>
      {figureOf("running", "running")}
      <Figure
        tone={limit !== null && usd >= limit ? "failing" : ""}
        href="/dashboard/cost"
        value={dollars(usd)}
      >
        {limit === null ? "today" : `of ${dollars(limit)} today`}
      </Figure>
      <Hours first={hours} />
    </section>
  );
}

interface FigureProps {
  readonly tone: string;
  readonly href: string;
  readonly value: string;
  readonly isCurrent?: boolean;
  /** Does without another page what the link does. */
  readonly follow?: () => void;
  readonly children: ComponentChildren;
}

function Figure({ tone, href, value, isCurrent = false, follow, children }: FigureProps) {
  return (
    <a
      class={`stat ${tone}`}
      href={href}
      aria-current={isCurrent ? "true" : undefined}
      onClick={(event) => {
        if (follow === undefined || event.ctrlKey || event.metaKey || event.shiftKey) return;
        event.preventDefault();
        follow();
      }}
    >
      <b>{value}</b> <span>{children}</span>
    </a>
  );
}

const parts = [
  ["failed", "failed"],
  ["other", "off"],
  ["succeeded", "good"],
] as const;

/** A column for each hour, failures below; the highest one fills the height. */
function Hours({ first }: { readonly first: HealthDocuments["hours"] }) {
  const isLocal = useIsLocal();
  const { value } = useDocument(hoursPath, { ...first, pauseMs: hoursPauseMs, isQuiet: true });
  const hours = value?.hours ?? [];
  const sum = (name: (typeof parts)[number][0]) =>
    hours.reduce((total, hour) => total + hour[name], 0);
  const most = Math.max(1, ...hours.map((hour) => hour.succeeded + hour.failed + hour.other));
  return (
    <figure class="stat hours" id="hours">
      <svg viewBox={`0 0 ${hours.length} ${most}`} preserveAspectRatio="none" aria-hidden="true">
        {hours.map((hour, index) => {
          let y = most;
          return (
            <g key={hour.at}>
              {isLocal && <title>{`${listTime(hour.at)}: ${endsText(hour)}`}</title>}
              <rect x={index} width="1" height={most} class="none" />
              {parts.map(([name, look]) => {
                y -= hour[name];
                return (
                  hour[name] > 0 && (
                    <rect key={name} class={look} x={index} width="0.8" y={y} height={hour[name]} />
                  )
                );
              })}
            </g>
          );
        })}
      </svg>
      <figcaption>
        <a href="/dashboard/triggers">Last 24 h</a>:{" "}
        {value === null
          ? "–"
          : endsText({ succeeded: sum("succeeded"), failed: sum("failed"), other: sum("other") })}
      </figcaption>
    </figure>
  );
}

function endsText({ succeeded, failed, other }: Omit<HourlyRuns["hours"][number], "at">): string {
  const counts = { succeeded, failed, other };
  return Object.entries(counts)
    .filter(([name, count]) => name !== "other" || count > 0)
    .map(([name, count]) => `${count.toLocaleString("en")} ${name}`)
    .join(", ");
}
