import { personWays } from "../../../../foundation/contracts/question-kinds.ts";
import { auditActs } from "../../../../foundation/contracts/audit-acts.ts";
import type { AuditEntryView, AuditReport } from "../../../../features/people/audit-report.ts";
import { whoText } from "../../../../foundation/contracts/questions.ts";
import { Filters, Select, TextField } from "../../kit/fields.tsx";
import { queryOf } from "../../kit/list-view.ts";
import {
  listStyles,
  List,
  Pager,
  useListPage,
  type ListData,
  type ListPage,
} from "../../kit/list.tsx";
import { Site } from "../../kit/site.tsx";
import type { Column } from "../../kit/table.tsx";
import { ListTime } from "../../kit/time.tsx";
import { shownText } from "../../runs/question-words.ts";
import { AgentLink, RunLink } from "../../runs/run-parts.tsx";

interface AuditData {
  readonly report: AuditReport;
}

/** The audit trail: the acts of people, the latest first. */
export const page: ListPage<AuditData> = {
  name: "audit",
  title: () => "Audit trail",
  styles: [...listStyles, "audit"],
  filters: ["act", "by", "agent", "instance"],
  paths: { report: (view) => `/api/audit?${queryOf(view)}` },
  view: AuditPage,
};

function AuditPage(data: ListData<AuditData>) {
  const { views, useRead } = useListPage(page, data);
  const read = useRead("report");
  const { entries = [], next = null } = read.value ?? {};
  const { instance } = views.view.filters;
  const none = views.isNarrow ? "No actions match these filters." : "No actions yet.";
  return (
    <Site
      frame={data.frame}
      title="Audit trail"
      heading={instance && `Audit trail of ${instance}`}
      head={instance && <a href="/dashboard/audit">of all runs</a>}
      documents={[read]}
      current="audit"
    >
      <List
        id="acts"
        columns={columns}
        rows={entries}
        keyOf={({ id }) => String(id)}
        none={read.value && none}
      >
        <Filters label="Filter the acts" views={views}>
          <Select name="act" label="Act" values={auditActs} />
          <TextField name="by" label="Person or address" suggestions={personWays} />
          <TextField name="agent" label="Agent" suggestions={data.frame.agentNames} />
        </Filters>
      </List>
      <Pager label="Pages of the acts" views={views} older={next === null ? null : String(next)} />
    </Site>
  );
}

const columns: readonly Column<AuditEntryView>[] = [
  ["Time", ListTime],
  ["Who", ({ by }) => shownText(whoText(by)), "who"],
  ["Act", ({ act }) => act, "what"],
  [
    "Agent or run",
    ({ agent, instanceId }) =>
      instanceId === null ? (
        <AgentLink agent={agent} otherwise="" />
      ) : (
        <RunLink agent={agent} instanceId={instanceId} />
      ),
  ],
  ["Detail", ({ detail }) => shownText(detail), "detail"],
];
