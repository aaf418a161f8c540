import type { StatusUpdate } from "../../../../../streams/status/wire.ts";
import { counted } from "../../../../foundation/contracts/format.ts";
import type { SpendKey } from "../../../../foundation/contracts/budget.ts";
import { plainText } from "../../../../foundation/contracts/plain-text.ts";
import type {
  SpendAnswer,
  SpendForecast,
  SpendLimit,
  SpendRowView,
} from "../../../../features/spend/spend-report.ts";
import {
  dollars,
  doubtText,
  lastDayText,
  monthEndUsd,
  scopeName,
} from "../../../../features/spend/spend-text.ts";
import { useDocument } from "../../live/use-document.ts";
import { Select } from "../../kit/fields.tsx";
import { useListViews } from "../../kit/list.tsx";
import { Panel } from "../../kit/panel.tsx";
import { frameStyles, Notice, Site } from "../../kit/site.tsx";
import { Table } from "../../kit/table.tsx";
import type { ListData, ListPage } from "../../send-page.tsx";
import { agentAddress } from "../../text/addresses.ts";
import { compactCount, isDay, percent } from "../../text/format.ts";
import type { ListView } from "../../kit/list-view.ts";
import { Days } from "./days.tsx";

interface CostData {
  /** Spending by each key; null if it could not be read. */
  readonly first: Readonly<Record<SpendKey, SpendAnswer | null>>;
}

/** The spending of runs on models: now, by day, by agent and by model, the limits, and the month's end. */
export const page: ListPage<CostData> = {
  name: "cost",
  title: () => "Cost",
  styles: [...frameStyles, "overview", "history", "cost"],
  filters: ["days"],
  view: Cost,
};

const ranges = { 7: "7 days", 90: "90 days" };

/** How many days a view has. */
export function daysOf({ filters }: ListView): number {
  const days = Number(filters.days);
  return days in ranges ? days : 30;
}

/** Adding up the calls of 30 days takes the scheduler a moment: it is not requested for each call. */
const pauseMs = 5_000;

function useSpend(by: SpendKey, days: number, first: SpendAnswer | null) {
  const on = ({ agents }: StatusUpdate): boolean => agents !== undefined;
  const path = () => `/api/spend?by=${by}&days=${days}`;
  return useDocument<SpendAnswer>(path, { first, view: String(days), on, pauseMs });
}

function Cost({ frame, view, first }: ListData & CostData) {
  const views = useListViews(page.filters, view);
  const range = daysOf(views.view);
  const byDay = useSpend("day", range, first.day);
  const byAgent = useSpend("agent", range, first.agent);
  const byModel = useSpend("model", range, first.model);
  const [days, agents, models] = [byDay.value, byAgent.value, byModel.value];
  const isEmpty = days?.rows.length === 0;
  return (
    <Site
      frame={frame}
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
      {days !== null && <Figures spending={days} />}
      {days !== null && agents !== null && models !== null && !isEmpty && (
        <div class="cost-parts" id="parts">
          <Panel id="by-days" title="By day" class="cost-part wide">
            <Days spending={days} range={range} />
          </Panel>
          <Panel id="by-agents" title="By agent" class="cost-part">
            <Rows id="agents" rows={agents.rows} kind="agent" />
          </Panel>
          <Panel id="by-models" title="By model" class="cost-part">
            <Rows id="models" rows={models.rows} kind="model" />
          </Panel>
          <Panel id="by-limits" title="Limits" class="cost-part wide">
            <Limits limits={days.limits.filter(({ limit }) => limit !== null)} />
          </Panel>
        </div>
      )}
      {isEmpty && <Empty range={range} />}
    </Site>
  );
}

/** Names the models whose calls have no price, with a hint. */
function unpricedText({ rows }: SpendAnswer): string | null {
  const names = rows.filter(({ unpriced, usd }) => unpriced > 0 && usd > 0).map(({ key }) => key);
  if (names.length === 0) return null;
  const [are, their, model] =
    names.length === 1 ? ["is", "Its", "Model"] : ["are", "Their", "Models"];
  return (
    `${model} ${names.join(", ")} ${are} unpriced. ${their} calls count at the dearest price of the provider ` +
    `until config.toml has a price: [models.${names[0] ?? ""}] price = { input = …, output = … }.`
  );
}

/** Id, title, amount and note of a figure. */
type Figure = readonly [string, string, string, string];

function forecastFigure(month: SpendLimit | undefined, forecast: SpendForecast | null): Figure {
  const title = `By ${month === undefined ? "the end of the month" : lastDayText(month.window)}`;
  const atEnd = monthEndUsd(month, forecast, Date.now());
  if (forecast === null || atEnd === null)
    return ["forecast", title, "–", "no agent that starts by itself spent anything yet"];
  const rest = `${dollars(forecast.monthUsd)} in 30 days (p90 ${dollars(forecast.p90Usd)})`;
  return ["forecast", title, dollars(atEnd), `so far, and the rest at ${rest}`];
}

/** The page's largest numbers; a note below each explains it. */
function Figures({ spending }: { readonly spending: SpendAnswer }) {
  const ofProject = spending.limits.filter(({ scope }) => scope === "project");
  const today = ofProject.find(isDay);
  const month = ofProject.find((one) => !isDay(one));
  const figures: readonly Figure[] = [
    ["today", "Today", dollars(today?.usd ?? 0), limitNote(today)],
    ["month", "This month so far", dollars(month?.usd ?? 0), limitNote(month)],
    ["reserved", "Reserved now", dollars(today?.reserved ?? 0), "by calls that are open"],
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

/** How many rows are shown: of thousands, a reader wants the most expensive. */
const mostRows = 200;

interface MoreRowProps {
  readonly all: number;
  readonly noun: string;
}

function MoreRow({ all, noun }: MoreRowProps) {
  if (all <= mostRows) return null;
  return (
    <tr>
      <td class="muted" colSpan={4}>
        and {counted(all - mostRows, noun)} more
      </td>
    </tr>
  );
}

interface RowsProps {
  readonly id: string;
  readonly rows: readonly SpendRowView[];
  readonly kind: "agent" | "model";
}

/** The table of agents or of models, the most expensive first. */
function Rows({ id, rows, kind }: RowsProps) {
  const most = Math.max(0, ...rows.map(({ usd }) => usd));
  const title = kind === "agent" ? "Agent" : "Model";
  return (
    <Table columns={[title, "Cost", "Calls", "Tokens"]} rowsId={id}>
      {rows.slice(0, mostRows).map((row) => (
        <tr key={row.key}>
          <td class="cost-name">
            {kind === "agent" ? <a href={agentAddress(row.key)}>{row.key}</a> : plainText(row.key)}
            {kind === "model" && row.unpriced > 0 && (
              <>
                {" "}
                <span class="pill held">unpriced</span>
              </>
            )}
            <div class="sub">{doubtText(row)}</div>
          </td>
          <td class="number">
            {dollars(row.usd)}
            <Share usd={row.usd} reserved={0} whole={most} />
          </td>
          <td class="number">{row.calls.toLocaleString("en")}</td>
          <td class="number">{compactCount(row.tokens)}</td>
        </tr>
      ))}
      <MoreRow all={rows.length} noun={kind} />
    </Table>
  );
}

function Limits({ limits }: { readonly limits: readonly SpendLimit[] }) {
  if (limits.length === 0) {
    return (
      <p class="muted" id="limits-none">
        No limit is set. <code>[budget]</code> in a <code>config.toml</code> sets one.
      </p>
    );
  }
  return (
    <Table columns={["Of", "In", "Spent", "Limit"]} rowsId="limits">
      {limits.slice(0, mostRows).map(({ scope, window, usd, reserved, limit }) => (
        <tr key={`${scope} ${window}`}>
          <td class="cost-name">{plainText(scopeName(scope))}</td>
          <td class="number">{window}</td>
          <td class="number">
            {dollars(usd)}
            <Share usd={usd} reserved={reserved} whole={limit ?? 0} />
            <div class="sub">{reserved === 0 ? "" : `${dollars(reserved)} reserved`}</div>
          </td>
          <td class="number">{dollars(limit ?? 0)}</td>
        </tr>
      ))}
      <MoreRow all={limits.length} noun="limit" />
    </Table>
  );
}

interface ShareProps {
  readonly usd: number;
  readonly reserved: number;
  readonly whole: number;
}

/** The spent share of a whole, and the reserved share. */
function Share({ usd, reserved, whole }: ShareProps) {
  const part = (value: number): string => percent(whole <= 0 ? 1 : Math.min(1, value / whole));
  return (
    <svg class="share" height={4} aria-hidden="true">
      <rect class="all" width="100%" height={4} />
      <rect class="held" width={part(usd + reserved)} height={4} />
      <rect class="spent" width={part(usd)} height={4} />
    </svg>
  );
}

function Empty({ range }: { readonly range: number }) {
  return (
    <section class="panel empty" id="empty">
      <h2>Nothing spent yet</h2>
      <p class="muted">
        No run asked a model in the last {range} days. What runs spend appears here while they run,
        and <code>al cost</code> prints it.
      </p>
    </section>
  );
}
