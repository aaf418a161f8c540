import type { ComponentChildren, ComponentProps } from "preact";
import type { AlertsReport, AlertTargetView } from "../../../../features/alerts/alerts-report.ts";
import { deliveryStates } from "../../../../features/alerts/rules/alert.ts";
import { Copied } from "../../kit/copied.tsx";
import { Filters, Select, TextField } from "../../kit/fields.tsx";
import { queryOf, type ListView } from "../../kit/list-view.ts";
import { List, Pager, useListViews, type ListViews } from "../../kit/list.tsx";
import { Panel } from "../../kit/panel.tsx";
import { frameStyles, Notice, Site, useScheduler } from "../../kit/site.tsx";
import { announce } from "../../live/toasts.ts";
import { changes, useDocument } from "../../live/use-document.ts";
import type { ListData, ListPage } from "../../send-page.tsx";
import { exactTime } from "../../text/format.ts";
import { AlertRow, OpenRow, RetryAll, TargetRow } from "./rows.tsx";

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

function Alerts({ frame, view, report: first }: ListData & AlertsData) {
  const views = useListViews(page.filters, view);
  const { alerts } = useScheduler(frame);
  const { value: report, ...read } = useDocument<AlertsReport>(() => alertsPath(views.view), {
    first,
    view: views.key,
    on: changes("alerts"),
  });
  const { open = [], targets = [], deliveries = [], next = null } = report ?? {};
  const done = (words: string): void => {
    announce(words);
    read.refresh();
  };
  const none = noneText(views);
  return (
    <Site
      frame={frame}
      title="Alerts"
      total={`${alerts.open.toLocaleString("en")} open · ${alerts.dead.toLocaleString("en")} dead`}
      documents={[{ value: report, ...read }]}
      current="alerts"
    >
      <Notice kind="error lines" id="off" text={offText(targets)} />
      <Part
        id="open"
        title="Open"
        columns={["What", "Agent", "Since", "Count", "Why", "(Action)"]}
        none={report && "Nothing is wrong now."}
        rows={open.map((alert) => (
          <OpenRow {...alert} done={done} key={`${alert.topic} ${alert.agent ?? ""}`} />
        ))}
      />
      <Part
        id="targets"
        title="Targets"
        columns={["Target", "State", "Waiting", "Dead", "Last error", "(Action)"]}
        none={report && <NoTargets />}
        rows={targets.map((target) => (
          <TargetRow {...target} done={done} key={target.name} />
        ))}
      />
      <Part
        id="deliveries"
        title="Deliveries"
        columns={["Time", "Alert", "Deliveries"]}
        none={report && none}
        rows={[...Map.groupBy(deliveries, alertOf)].map(([key, group]) => (
          <AlertRow deliveries={group} done={done} key={key} />
        ))}
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
      </Part>
      <Pager label="Pages of the deliveries" views={views} older={next} />
    </Site>
  );
}

type Delivery = AlertsReport["deliveries"][number];

/** Names the alert of a delivery: the deliveries of one alert are one row. */
function alertOf({ at, agent, topic, phase, title, reason }: Delivery): string {
  return JSON.stringify([at, agent, topic, phase, title, reason]);
}

const noneAtAll = "No alert was sent yet.";

function noneText({ view, isNarrow }: ListViews): string {
  if (view.before !== "") return "There are no older deliveries.";
  return isNarrow ? "No delivery meets these filters." : noneAtAll;
}

function offText(targets: readonly AlertTargetView[]): string {
  const lines = targets.flatMap(({ name, offSince, lastError }) =>
    offSince === null
      ? []
      : `Target ${name} is off since ${exactTime(offSince)}: ${lastError ?? "it refuses everything"}. Nothing is sent to it. ` +
        "Correct its credential, then send a test: once it accepts one, it is on again.",
  );
  return lines.join("\n");
}

interface PartProps extends ComponentProps<typeof List> {
  readonly title: string;
  /** Content above the table. */
  readonly children?: ComponentChildren;
}

function Part({ title, children, ...list }: PartProps) {
  return (
    <Panel id={`${list.id}-part`} title={title} class="alert-part">
      {children}
      <List {...list} />
    </Panel>
  );
}

function NoTargets() {
  return (
    <>
      <p>
        The project has no target yet: alerts are shown here only. A target needs a credential with
        its address
      </p>
      <Copied text="al creds add slack_webhook" label="Command" />
      <p>
        and a table in the project’s <code>config.toml</code>:
      </p>
      <Copied text={'[alerts.ops]\ntype = "slack"'} label="Lines of config.toml" />
    </>
  );
}
