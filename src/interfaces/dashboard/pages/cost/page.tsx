import type { SpendKey } from "../../../../foundation/contracts/budget.ts";
import type {
  SpendAnswer,
  SpendForecast,
  SpendLimit,
} from "../../../../features/spend/spend-report.ts";
import { dollars, lastDayText, monthEndUsd } from "../../../../features/spend/spend-text.ts";
import { Copied } from "../../kit/copied.tsx";
import { Select } from "../../kit/fields.tsx";
import { useListPage, type ListData, type ListPage } from "../../kit/list.tsx";
import { Panel } from "../../kit/panel.tsx";
import { frameStyles, Notice, Site } from "../../kit/site.tsx";
import { isDay } from "../../text/format.ts";
import type { ListView } from "../../kit/list-view.ts";
import { Days } from "./days.tsx";
import { Limits, Spending } from "./spending.tsx";

/** Spending by each key. */
type CostData = Readonly<Record<SpendKey, SpendAnswer>>;

/** How many agents have a part of their own in the bars of days. */
const shownAgents = 5;

const pathBy = (by: SpendKey) => (view: ListView) =>
  `/api/spend?by=${by}&days=${daysOf(view)}${by === "day" ? `&top=${shownAgents}` : ""}`;

/** The spending of runs on models: now, by day, by agent and by model, the limits, and the month's end. */
export const page: ListPage<CostData> = {
  name: "cost",
  title: () => "Cost",
  styles: [...frameStyles, "history", "cost"],
  filters: ["days"],
  paths: { day: pathBy("day"), agent: pathBy("agent"), model: pathBy("model") },
  view: Cost,
};

const ranges = { 7: "7 days", 90: "90 days" };

/** How many days a view has. */
function daysOf({ filters }: ListView): number {
  const days = Number(filters.days);
  return days in ranges ? days : 30;
}

/** Adding up the calls of 30 days takes the scheduler a moment: it is not requested for each call. */
const pauseMs = 5_000;

function Cost(data: ListData<CostData>) {
  const { views, useRead } = useListPage(page, data);
  const range = daysOf(views.view);
  const byDay = useRead("day", { pauseMs });
  const byAgent = useRead("agent", { pauseMs });
  const byModel = useRead("model", { pauseMs });
  const [days, agents, models] = [byDay.value, byAgent.value, byModel.value];
  const isEmpty = days?.rows.length === 0;
  return (
    <Site
      frame={data.frame}
      title="Cost"
      head={
        <div class="end">
          <Select
            id="range"
            label="Time"
            isBare
            any="30 days"
            values={Object.keys(ranges)}
            words={ranges}
            value={range === 30 ? "" : String(range)}
            onChange={(chosen) => views.filter(chosen === "" ? {} : { days: chosen })}
          />
        </div>
      }
      documents={[byDay, byAgent, byModel]}
      current="cost"
    >
      <Notice kind="warning" id="unpriced" text={models && unpricedText(models)} />
      {days !== null && !isEmpty && (
        <Limits limits={days.limits.filter(({ limit }) => limit !== null)} />
      )}
      {days !== null && <Figures spending={days} />}
      {days !== null && agents !== null && models !== null && !isEmpty && (
        <div class="cost-parts" id="parts">
          <Panel id="by-days" title="By day" class="cost-part wide">
            <Days
              spending={days}
              agents={agents.rows.slice(0, shownAgents).map(({ key }) => key)}
              range={range}
            />
          </Panel>
          <Spending by="agent" rows={agents.rows} />
          <Spending by="model" rows={models.rows} />
        </div>
      )}
      {isEmpty && <Empty range={range} agent={data.frame.agentNames[0]} />}
    </Site>
  );
}

function Empty({
  range,
  agent = "<agent>",
}: {
  readonly range: number;
  readonly agent?: string | undefined;
}) {
  return (
    <section class="panel empty" id="empty">
      <h2>Nothing spent yet</h2>
      <p class="muted">
        No run called a model in the last {range} days. Costs appear here while an agent runs:
      </p>
      <Copied text={`al run ${agent}`} label="Command" />
    </section>
  );
}

/** Names the models whose calls have no price, with a hint. */
function unpricedText({ rows }: SpendAnswer): string | null {
  const names = rows.filter(({ unpriced, usd }) => unpriced > 0 && usd > 0).map(({ key }) => key);
  if (names.length === 0) return null;
  const [are, their, model] =
    names.length === 1 ? ["is", "Its", "Model"] : ["are", "Their", "Models"];
  return (
    `${model} ${names.join(", ")} ${are} unpriced. ${their} calls are charged at the provider's highest price. ` +
    `Set a price in config.toml: [models.${names[0] ?? ""}] price = { input = …, output = … }.`
  );
}

/** Id, title, amount and note of a figure. */
type Figure = readonly [string, string, string, string];

function forecastFigure(month: SpendLimit | undefined, forecast: SpendForecast | null): Figure {
  const title = `By ${month === undefined ? "the end of the month" : lastDayText(month.window)}`;
  const atEnd = monthEndUsd(month, forecast, Date.now());
  if (forecast === null || atEnd === null)
    return ["forecast", title, "–", "No agent with a trigger has costs yet"];
  const rate = `${dollars(forecast.monthUsd)} per 30 days; 90th percentile ${dollars(forecast.p90Usd)}`;
  return ["forecast", title, dollars(atEnd), `Projected at the current rate (${rate})`];
}

/** The page's largest numbers; a note below each explains it. */
function Figures({ spending }: { readonly spending: SpendAnswer }) {
  const ofProject = spending.limits.filter(({ scope }) => scope === "project");
  const today = ofProject.find(isDay);
  const month = ofProject.find((one) => !isDay(one));
  const figures: readonly Figure[] = [
    ["today", "Today", dollars(today?.usd ?? 0), limitNote(today)],
    ["month", "This month so far", dollars(month?.usd ?? 0), limitNote(month)],
    ["reserved", "Reserved now", dollars(today?.reserved ?? 0), "for calls in progress"],
    forecastFigure(month, spending.forecast),
  ];
  return (
    <dl class="figures" id="figures">
      {figures.map(([id, title, value, note]) => (
        <div class="panel figure" key={id}>
          <dt class="muted">{title}</dt>
          <dd id={id}>{value}</dd>
          <dd class="muted note" id={`${id}-note`}>
            {note}
          </dd>
        </div>
      ))}
    </dl>
  );
}

function limitNote(limit: SpendLimit | undefined): string {
  if (limit?.limit === undefined || limit.limit === null) return "no limit";
  return `of ${dollars(limit.limit)}`;
}
