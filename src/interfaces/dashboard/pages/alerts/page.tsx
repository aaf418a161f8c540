import type { AlertsReport, AlertTargetView } from "../../../../features/alerts/alerts-report.ts";
import { deliveryStates } from "../../../../features/alerts/rules/alert.ts";
import { Copied } from "../../kit/copied.tsx";
import { Filters, Select, TextField } from "../../kit/fields.tsx";
import { queryOf } from "../../kit/list-view.ts";
import {
  listStyles,
  List,
  Pager,
  useListPage,
  type ListData,
  type ListPage,
  type ListViews,
} from "../../kit/list.tsx";
import { Notice, Site, useScheduler } from "../../kit/site.tsx";
import { announce } from "../../live/toasts.ts";
import { listTime } from "../../text/format.ts";
import { deliveryColumns, openColumns, RetryAll, targetColumns } from "./columns.tsx";

interface AlertsData {
  readonly report: AlertsReport;
}

/** Open alerts, the targets of alerts, and the deliveries to them. */
export const page: ListPage<AlertsData> = {
  name: "alerts",
  title: () => "Alerts",
  styles: [...listStyles, "alerts"],
  filters: ["state", "target"],
  paths: { report: (view) => `/api/alerts?${queryOf(view)}` },
  view: Alerts,
};

function Alerts(data: ListData<AlertsData>) {
  const { views, useRead } = useListPage(page, data);
  const { alerts } = useScheduler(data.frame);
  const read = useRead("report");
  const { value: report } = read;
  const { open = [], targets = [], deliveries = [], next = null } = report ?? {};
  const done = (words: string): void => {
    announce(words);
    read.refresh();
  };
  const none = noneText(views);
  return (
    <Site
      frame={data.frame}
      title="Alerts"
      total={`${alerts.open.toLocaleString("en")} open · ${alerts.dead.toLocaleString("en")} dead`}
      documents={[read]}
      current="alerts"
    >
      <Notice kind="error lines" id="off" text={offText(targets)} />
      <List
        id="open"
        title="Open"
        columns={openColumns}
        rows={open.map((alert) => ({ ...alert, done }))}
        keyOf={({ topic, agent }) => `${topic} ${agent ?? ""}`}
        none={report && "No open alerts."}
      />
      <List
        id="targets"
        title="Targets"
        columns={targetColumns}
        rows={targets.map((target) => ({ ...target, done }))}
        keyOf={({ name }) => name}
        none={report && noTargets()}
      />
      <List
        id="deliveries"
        title="Deliveries"
        columns={deliveryColumns}
        rows={alertsOf(deliveries, views.view.filters.state).map((one) => ({ ...one, done }))}
        keyOf={alertOf}
        none={report && none}
      >
        <Filters
          label="Filter the deliveries"
          hidden={deliveries.length === 0 && none === noneAtAll}
          views={views}
          after={<RetryAll dead={alerts.dead} done={done} />}
        >
          <Select name="state" label="State" values={deliveryStates} />
          <TextField name="target" label="Target" suggestions={targets.map(({ name }) => name)} />
        </Filters>
      </List>
      <Pager label="Pages of the deliveries" views={views} older={next} />
    </Site>
  );
}

type Delivery = AlertsReport["deliveries"][number];

/** Names the alert of a delivery: the deliveries of one alert are one row, and so are those of a question and its reminder. */
function alertOf({ at, agent, topic, phase, title, reason, instanceId }: Delivery): string {
  const about = topic === "question" ? [instanceId] : [phase, title];
  return JSON.stringify([at, agent, topic, reason, ...about]);
}

/** The alerts of deliveries, the newest first. A reminder that is due later is left out unless `state` asks for it. */
function alertsOf(deliveries: readonly Delivery[], state: string | undefined) {
  const shown = deliveries.filter((one) => state === "waiting" || !isPlanned(one));
  return [...Map.groupBy(shown, alertOf).values()].flatMap((all) => {
    const [first] = all;
    const latest = new Map(all.toReversed().map((one) => [one.target, one]));
    const ways = all.filter((one) => one.state !== "sent" || latest.get(one.target) === one);
    return first === undefined ? [] : [{ ...first, ways }];
  });
}

function isPlanned({ phase, state, attempts, at, nextAt }: Delivery): boolean {
  const isFirst = phase === "reminder" && state === "waiting" && attempts === 0;
  return isFirst && nextAt !== null && Date.parse(nextAt) > Math.max(Date.parse(at), Date.now());
}

const noneAtAll = "No alerts sent yet.";

function noneText({ view, isNarrow }: ListViews): string {
  if (view.before !== "") return "There are no older deliveries.";
  return isNarrow ? "No deliveries match these filters." : noneAtAll;
}

function offText(targets: readonly AlertTargetView[]): string {
  const lines = targets.flatMap(({ name, offSince, lastError }) =>
    offSince === null
      ? []
      : `Target ${name} is off since ${listTime(offSince)}: ${lastError ?? "it rejects all alerts"}. ` +
        "Correct its credential, then send a test to turn it on again.",
  );
  return lines.join("\n");
}

const noTargets = () => (
  <>
    <p>Alerts are shown here only. To get them in Slack, store the address of its webhook</p>
    <Copied text="al creds add slack_webhook" label="Command" />
    <p>
      and add a target to the project’s <code>config.toml</code>:
    </p>
    <Copied text={'[alerts.ops]\ntype = "slack"'} label="Lines of config.toml" />
  </>
);
