import type { AgentStatus } from "../../../../../streams/status/wire.ts";
import { plainText } from "../../../../foundation/contracts/plain-text.ts";
import type { WhyNot } from "../../../../features/webhooks/delivery-report.ts";
import { refusalWord, turnedAwayText } from "../../../views/delivery-words.ts";
import { useDocument, type FirstDocument } from "../../live/use-document.ts";
import { whyDays, whyPath } from "../../text/addresses.ts";
import { dayTime, joined, listTime } from "../../text/format.ts";
import { triggerWords, whyText } from "../../runs/trigger-words.ts";
import { memo } from "../../kit/memo.ts";
import { RunMissed } from "./run-missed.tsx";
import { Items, Panel } from "../../kit/panel.tsx";
import { ListTime } from "../../kit/time.tsx";

const maxShown = 12;

interface WhyProps {
  readonly agent: string;
  readonly first: FirstDocument<WhyNot>;
  /** Null if it was removed. */
  readonly status: AgentStatus | null;
}

/** The panel with the reasons why an agent did not run. */
export function Why({ agent, first, status }: WhyProps) {
  const path = (now: number) => whyPath(agent, now);
  const { value: why, failure } = useDocument(path, { ...first, agent, isQuiet: true });
  const groups = why === null ? [] : groupsOf(why);
  const now = why?.now ?? [];
  return (
    <Panel
      id="why"
      title="Why it didn't run"
      after={
        <>
          <span class="muted after">last {whyDays} days</span>
          {why !== null && <RunMissed agent={agent} status={status} why={why} />}
        </>
      }
    >
      <ul class="why-now" id="why-now" hidden={now.length === 0}>
        {now.map((text) => (
          <li key={text}>{plainText(text)}</li>
        ))}
      </ul>
      <Items
        id="why"
        items={groups}
        most={maxShown}
        note={
          why === null ? failure || "Reading the reasons …" : noteOf(why, groups.length, status)
        }
      >
        {(group) => <Group {...group} key={keyOf(group)} />}
      </Items>
    </Panel>
  );
}

function noteOf({ lookedBackTo, now }: WhyNot, count: number, status: AgentStatus | null): string {
  if (count === 0 && now.length === 0) return noneText(status);
  const more = count > maxShown ? [`${count - maxShown} more reasons`] : [];
  const back =
    lookedBackTo === null ? [] : [`deliveries before ${listTime(lookedBackTo)} were not checked`];
  return [...more, ...back].join("; ");
}

const dayMs = 86_400_000;

/** Without a run and without a reason, the agent was not due. */
function noneText(status: AgentStatus | null): string {
  const { lastRunAt = null, nextRunAt = null } = status ?? {};
  const hasRun = lastRunAt !== null && Date.parse(lastRunAt) > Date.now() - whyDays * dayMs;
  if (hasRun) return `Nothing kept it from running in the last ${whyDays} days.`;
  if (nextRunAt !== null) return `It was not due. Next run: ${dayTime(nextRunAt)}.`;
  return `Nothing triggered it in the last ${whyDays} days.`;
}

/** A reason why an agent did not run, once or many times. */
interface WhyGroup {
  /** `skipped`, `turned away`, … */
  readonly outcome: string;
  readonly trigger: string;
  readonly why: string;
  readonly count: number;
  /** ISO 8601. */
  readonly lastAt: string;
}

const Group = memo(({ outcome, trigger, why, count, lastAt }: WhyGroup) => (
  <li>
    <div class="why-head">
      <span class="outcome">{outcome}</span>
      <span>{trigger}</span>
    </div>
    <div class="why">{why}</div>
    <div class="sub">
      {count === 1 ? "" : `${count.toLocaleString("en")} times · last `}
      <ListTime at={lastAt} />
    </div>
  </li>
));

/** The reasons why an agent did not run: equal ones are one group, the latest group is first. */
function groupsOf({ refused, spans, turnedAway, refusedDeliveries }: WhyNot): readonly WhyGroup[] {
  const single: readonly WhyGroup[] = [
    ...refused.map((entry) => ({
      outcome: entry.outcome ?? "",
      trigger: triggerWords(entry),
      why: whyText(entry),
      count: 1,
      lastAt: entry.at,
    })),
    ...spans.map(({ schedule, since, until, firstAt, count, reason }) => ({
      outcome: "skipped",
      trigger: joined(["schedule", schedule], " "),
      why: `From ${dayTime(since)} to ${until === null ? "now" : dayTime(until)} ${reason}`,
      count,
      lastAt: until ?? firstAt,
    })),
    ...turnedAway.map((delivery) => ({
      outcome: "filtered out",
      trigger: joined(["webhook", delivery.event, delivery.action], " "),
      why: plainText(turnedAwayText(delivery)),
      count: 1,
      lastAt: delivery.at,
    })),
    ...refusedDeliveries.map(({ source, type, result, count, lastAt, reason }) => ({
      outcome: refusalWord(result),
      trigger: `webhook ${source ?? type}`,
      why: plainText(reason),
      count,
      lastAt,
    })),
  ];
  return [...Map.groupBy(single, keyOf).values()]
    .flatMap((same) => {
      const [latest] = same.sort(byTime);
      const count = same.reduce((sum, one) => sum + one.count, 0);
      return latest === undefined ? [] : [{ ...latest, count }];
    })
    .sort(byTime);
}

function byTime(a: WhyGroup, b: WhyGroup): number {
  return b.lastAt.localeCompare(a.lastAt);
}

function keyOf({ outcome, trigger, why }: WhyGroup): string {
  return JSON.stringify([outcome, trigger, why]);
}
