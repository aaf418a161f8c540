import { personWays } from "../../../../foundation/contracts/question-kinds.ts";
import { auditActs } from "../../../../foundation/contracts/audit-acts.ts";
import type { AuditEntryView, AuditReport } from "../../../../features/people/audit-report.ts";
import { whoText } from "../../../../foundation/contracts/questions.ts";
import { Filters, Select, TextField } from "../../kit/fields.tsx";
import { queryOf, type ListView } from "../../kit/list-view.ts";
import { List, Pager, useListViews } from "../../kit/list.tsx";
import { frameStyles, Site } from "../../kit/site.tsx";
import { ListTime } from "../../kit/time.tsx";
import { changes, useDocument } from "../../live/use-document.ts";
import { shownText } from "../../runs/question-words.ts";
import { AgentLink, RunLink } from "../../runs/run-parts.tsx";
import type { ListData, ListPage } from "../../send-page.tsx";

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

function AuditPage({ frame, view, report }: ListData & AuditData) {
  const views = useListViews(page.filters, view);
  const read = useDocument<AuditReport>(() => auditPath(views.view), {
    first: report,
    view: views.key,
    on: changes("audit", "questions"),
  });
  const { entries = [], next = null } = read.value ?? {};
  const { instance } = views.view.filters;
  const none = views.isNarrow ? "No act meets these filters." : "No person did anything yet.";
  return (
    <Site
      frame={frame}
      title="Audit trail"
      heading={instance && `Audit trail of ${instance}`}
      head={instance && <a href="/dashboard/audit">of all runs</a>}
      documents={[read]}
      current={null}
    >
      <div class="panel">
        <Filters label="Filter the acts" views={views}>
          <Select name="act" label="Act" values={auditActs} />
          <TextField name="by" label="Person or address" suggestions={personWays} />
          <TextField name="agent" label="Agent" suggestions={frame.agentNames} />
        </Filters>
        <List
          id="acts"
          columns={["Time", "Who", "Act", "Agent or run", "Detail"]}
          rows={entries.map((entry) => (
            <AuditRow key={entry.id} {...entry} />
          ))}
          none={read.value && none}
        />
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
