import type { ComponentChildren } from "preact";
import { deliveryStates } from "../../../../features/alerts/rules/alert.ts";
import type {
  AlertDeliveryView,
  AlertsReport,
  AlertTargetView,
} from "../../../../features/alerts/alerts-report.ts";
import { scheduler } from "../../live/status.ts";
import { useStore } from "../../live/store.ts";
import { announce } from "../../live/toasts.ts";
import { changes, useDocument } from "../../live/use-document.ts";
import { Copied } from "../../kit/copied.tsx";
import { Filters, Select, TextField } from "../../kit/fields.tsx";
import { Pager, useListViews } from "../../kit/list-views.tsx";
import { Panel, Unread } from "../../kit/panel.tsx";
import { frameStyles, Notice, Site } from "../../kit/site.tsx";
import { Table } from "../../kit/table.tsx";
import type { ListData, ListPage } from "../../send-page.tsx";
import { exactTime } from "../../text/format.ts";
import { queryOf, type ListView } from "../../kit/list-view.ts";
import { AlertRow, OpenRow, RetryAll, TargetRow, type Done } from "./rows.tsx";

interface AlertsData {
  readonly report: AlertsReport | null;
}

/** Open alerts, the targets of alerts, and the deliveries to them. */
export const page: ListPage<AlertsData> = {
  name: "alerts",
  title: () => "Alerts",
  styles: [...frameStyles, "history", "list", "alerts"],
  filters: ["state", "target"],
  view: Alerts,
};

/** The address of the API for a view. */
export function alertsPath(view: ListView): string {
  return `/api/alerts?${queryOf(view)}`;
}

function Alerts({ frame, view: firstView, report: first }: ListData & AlertsData) {
  const views = useListViews(page.filters, firstView);
  const { alerts } = useStore(scheduler) ?? frame.scheduler;
  const read = useDocument<AlertsReport>(() => alertsPath(views.view), {
    first,
    view: views.key,
    isWanted: () => document.visibilityState !== "hidden",
    on: changes("alerts"),
  });
  const { value: report, refresh } = read;
  const done = (words: string): void => {
    announce(words);
    refresh();
  };
  return (
    <Site frame={frame} title="Alerts" current="alerts">
      <div class="page-title">
        <h1>Alerts</h1>
        <span class="muted" id="total" role="status">
          {alerts.open.toLocaleString("en")} open · {alerts.dead.toLocaleString("en")} dead
        </span>
      </div>
      <Notice kind="error lines" id="off" text={report === null ? null : offText(report.targets)} />
      <Unread documents={[read]} />
      {report !== null && <Report report={report} views={views} dead={alerts.dead} done={done} />}
    </Site>
  );
}

interface ReportProps {
  readonly report: AlertsReport;
  readonly views: ReturnType<typeof useListViews>;
  readonly dead: number;
  readonly done: Done;
}

function Report({ report, views, dead, done }: ReportProps) {
  const { open, targets, deliveries, next } = report;
  const none = noneText(views);
  return (
    <>
      <Part
        id="open"
        title="Open"
        columns={["What", "Agent", "Since", "Count", "Why", "(Action)"]}
        none={
          <p class="muted none" id="open-none">
            Nothing is wrong now.
          </p>
        }
        rows={open.map((alert) => (
          <OpenRow alert={alert} done={done} key={`${alert.topic} ${alert.agent ?? ""}`} />
        ))}
      />
      <Part
        id="targets"
        title="Targets"
        columns={["Target", "State", "Waiting", "Dead", "Last error", "(Action)"]}
        none={<NoTargets />}
        rows={targets.map((target) => (
          <TargetRow target={target} done={done} key={target.name} />
        ))}
      />
      <Part
        id="deliveries"
        title="Deliveries"
        columns={["Time", "Alert", "Deliveries"]}
        none={
          <p class="muted none" id="deliveries-none" role="status">
            {none}
          </p>
        }
        rows={byAlert(deliveries).map((group) => (
          <AlertRow deliveries={group} done={done} key={group[0].id} />
        ))}
      >
        <Filters
          label="Filter the deliveries"
          hidden={deliveries.length === 0 && none === noneAtAll}
          views={views}
          after={<RetryAll dead={dead} done={done} />}
        >
          <Select
            name="state"
            label="State"
            any="Any"
            values={deliveryStates}
            value={views.view.filters.state ?? ""}
          />
          <TextField
            name="target"
            label="Target"
            value={views.view.filters.target ?? ""}
            suggestions={targets.map(({ name }) => name)}
          />
        </Filters>
      </Part>
      <Pager label="Pages of the deliveries" views={views} older={next} />
    </>
  );
}

/** Deliveries of one alert follow each other: they were stored together. */
function byAlert(deliveries: readonly AlertDeliveryView[]) {
  const groups: [AlertDeliveryView, ...AlertDeliveryView[]][] = [];
  for (const one of deliveries) {
    const last = groups.at(-1);
    if (last !== undefined && alertOf(last[0]) === alertOf(one)) last.push(one);
    else groups.push([one]);
  }
  return groups;
}

function alertOf({ at, agent, topic, phase, title, reason }: AlertDeliveryView): string {
  return JSON.stringify([at, agent, topic, phase, title, reason]);
}

const noneAtAll = "No alert was sent yet.";

function noneText({ view, isNarrow }: ReturnType<typeof useListViews>): string {
  if (view.before !== "") return "There are no older deliveries.";
  return isNarrow ? "No delivery meets these filters." : noneAtAll;
}

function offText(targets: readonly AlertTargetView[]): string {
  const lines = targets.flatMap(({ name, offSince, lastError }) => {
    if (offSince === null) return [];
    const since = exactTime(Date.parse(offSince));
    return [
      `Target ${name} is off since ${since}: ${lastError ?? "it refuses everything"}. Nothing is sent to it. ` +
        "Correct its credential, then send a test: once it accepts one, it is on again.",
    ];
  });
  return lines.join("\n");
}

interface PartProps {
  readonly id: string;
  readonly title: string;
  readonly columns: readonly string[];
  readonly rows: readonly ComponentChildren[];
  /** Shown instead of an empty table. */
  readonly none: ComponentChildren;
  /** Content above the table. */
  readonly children?: ComponentChildren;
}

function Part({ id, title, columns, rows, none, children }: PartProps) {
  return (
    <Panel id={`${id}-part`} title={title} class="alert-part">
      {children}
      <Table class={id} columns={columns} rowsId={id} hidden={rows.length === 0}>
        {rows}
      </Table>
      {rows.length === 0 && none}
    </Panel>
  );
}

function NoTargets() {
  return (
    <div class="muted none" id="targets-none">
      <p>
        The project has no target yet: alerts are shown here only. A target needs a credential with
        its address
      </p>
      <Copied text="al creds add slack_webhook" label="Command" />
      <p>
        and a table in the project’s <code>config.toml</code>:
      </p>
      <Copied text={'[alerts.ops]\ntype = "slack"'} label="Lines of config.toml" />
    </div>
  );
}
