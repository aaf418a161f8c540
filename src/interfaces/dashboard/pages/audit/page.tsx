import { auditActs } from "../../../../foundation/contracts/audit-acts.ts";
import type { AuditEntryView, AuditReport } from "../../../../features/people/audit-report.ts";
import { personWays, whoText } from "../../../../foundation/contracts/questions.ts";
import { changes, useDocument } from "../../live/use-document.ts";
import { Filters, Select, TextField } from "../../kit/fields.tsx";
import { Pager, useListViews } from "../../kit/list-views.tsx";
import { Unread } from "../../kit/panel.tsx";
import { AgentLink, RunLink } from "../../runs/run-parts.tsx";
import { frameStyles, Site } from "../../kit/site.tsx";
import { Table } from "../../kit/table.tsx";
import { ListTime } from "../../kit/time.tsx";
import type { ListData, ListPage } from "../../send-page.tsx";
import { queryOf, type ListView } from "../../kit/list-view.ts";
import { shownText } from "../../runs/question-words.ts";

interface AuditData {
  readonly report: AuditReport | null;
}

/** The audit trail: the acts of people, the latest first. */
export const page: ListPage<AuditData> = {
  name: "audit",
  title: () => "Audit trail",
  styles: [...frameStyles, "history", "list", "audit"],
  filters: ["act", "by", "agent", "instance"],
  view: AuditPage,
};

/** The address of the API for a view. */
export function auditPath(view: ListView): string {
  return `/api/audit?${queryOf(view)}`;
}

function AuditPage({ frame, view: firstView, report: first }: ListData & AuditData) {
  const views = useListViews(page.filters, firstView);
  const read = useDocument<AuditReport>(() => auditPath(views.view), {
    first,
    view: views.key,
    isWanted: () => document.visibilityState !== "hidden",
    on: changes("audit", "questions"),
  });
  const { entries, next } = read.value ?? { entries: [], next: null };
  const { act = "", by = "", agent = "", instance } = views.view.filters;
  return (
    <Site frame={frame} title="Audit trail" current={null}>
      <div class="page-title">
        <h1>Audit trail{instance !== undefined && ` of ${instance}`}</h1>
        {instance !== undefined && <a href="/dashboard/audit">of all runs</a>}
      </div>
      <Unread documents={[read]} />
      <div class="panel">
        <Filters label="Filter the acts" views={views}>
          <Select name="act" label="Act" any="Any" values={auditActs} value={act} />
          <TextField name="by" label="Person or address" value={by} suggestions={personWays} />
          <TextField name="agent" label="Agent" value={agent} suggestions={frame.agentNames} />
        </Filters>
        <Table
          class="audit"
          columns={["Time", "Who", "Act", "Agent or run", "Detail"]}
          rowsId="acts"
          hidden={entries.length === 0}
        >
          {entries.map((entry) => (
            <AuditRow key={entry.id} {...entry} />
          ))}
        </Table>
        <p
          class="muted none"
          id="none"
          role="status"
          hidden={read.value === null || entries.length > 0}
        >
          {views.isNarrow ? "No act meets these filters." : "No person did anything yet."}
        </p>
      </div>
      <Pager label="Pages of the acts" views={views} older={next === null ? null : String(next)} />
    </Site>
  );
}

function AuditRow({ at, by, act, agent, instanceId, detail }: AuditEntryView) {
  return (
    <tr>
      <td>
        <ListTime at={at} />
      </td>
      <td class="who">{shownText(whoText(by))}</td>
      <td class="what">{act}</td>
      <td>
        {agent !== null && instanceId !== null ? (
          <RunLink agent={agent} instanceId={instanceId} />
        ) : (
          <AgentLink agent={agent} otherwise="" />
        )}
      </td>
      <td class="detail">{shownText(detail)}</td>
    </tr>
  );
}
