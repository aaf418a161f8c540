import { outcomes } from "../../../../../streams/outcomes.ts";
import { useEffect, useRef, useState } from "preact/hooks";
import { triggerKinds, triggerNames } from "../../../../../streams/vocabulary.ts";
import { counted } from "../../../../foundation/contracts/format.ts";
import type { HistoryEntry, HistoryPage } from "../../../../foundation/contracts/history.ts";
import type { RefusedDeliveriesAnswer } from "../../../../features/webhooks/delivery-report.ts";
import type { ListData, ListPage } from "../../send-page.tsx";
import { useAgentNames } from "../../live/agents.ts";
import { changes, useDocument } from "../../live/use-document.ts";
import { Checkbox, Filters, Select, TextField } from "../../kit/fields.tsx";
import { List, Pager, useListViews, type ListViews } from "../../kit/list.tsx";
import { Refused, triggerColumns, TriggerRows } from "./rows.tsx";
import { frameStyles, Site } from "../../kit/site.tsx";
import { dayTime } from "../../text/format.ts";
import type { ListView } from "../../kit/list-view.ts";

interface TriggersData {
  /** Null if the history could not be read. */
  readonly history: HistoryPage | null;
  readonly refused: RefusedDeliveriesAnswer | null;
  /** The entry that the address names, which is open. */
  readonly opened: HistoryEntry | null;
}

/** The history of all triggers, including those that started nothing, and why. */
export const page: ListPage<TriggersData> = {
  name: "triggers",
  title: () => "Triggers",
  styles: [...frameStyles, "history", "list", "calls", "triggers"],
  filters: ["agent", "kind", "outcome", "since", "hours", "dead"],
  view: Triggers,
};

const hourMs = 3_600_000;

function Triggers({ frame, view, history, refused, opened }: ListData & TriggersData) {
  const views = useListViews(page.filters, view);
  const list = useTriggers(views.view, views.key, history);
  const denied = useDocument<RefusedDeliveriesAnswer>(() => refusedPath(Date.now()), {
    first: refused,
    isQuiet: true,
    on: changes("triggers"),
  });
  const { total, nextBefore, latest } = list;
  const isKnown = latest.value !== null;
  const firstKey = useRef(views.key).current;
  const isApart =
    opened !== null && views.key === firstKey && !list.entries.some(({ id }) => id === opened.id);
  const entries = isApart ? [opened, ...list.entries] : list.entries;
  useEffect(() => {
    if (opened !== null)
      document
        .querySelector(`[data-entry="${CSS.escape(opened.id)}"]`)
        ?.scrollIntoView({ block: "center" });
  }, []);
  const none = views.isNarrow
    ? "No entries match these filters."
    : "Nothing has triggered an agent yet. Schedules, webhooks, calls and manual runs appear here.";
  return (
    <Site
      frame={frame}
      title="Triggers"
      total={isKnown && counted(total, "trigger")}
      head={
        <button
          class="button primary after"
          type="button"
          id="show-new"
          hidden={list.added === 0}
          onClick={list.showLatest}
        >
          Show {counted(list.added, "new trigger")}
        </button>
      }
      documents={[latest, denied]}
      current="triggers"
    >
      <TriggerFilters views={views} firstNames={frame.agentNames} />
      <Refused deliveries={denied.value?.deliveries ?? []} />
      <section class="panel" aria-labelledby="history-title">
        <h2 class="visually-hidden" id="history-title">
          Trigger history
        </h2>
        <List
          id="trigger-rows"
          columns={triggerColumns}
          rows={entries.map((entry) => (
            <TriggerRows
              entry={entry}
              isOpenAtFirst={entry.id === opened?.id}
              key={`${views.key} ${entry.id}`}
            />
          ))}
          none={isKnown ? none : null}
        />
      </section>
      <Pager label="Pages of the history" views={views} older={nextBefore} />
    </Site>
  );
}

/** The address of the API for a view. */
export function triggersPath({ filters, before }: ListView, now: number): string {
  const { agent, hours, dead, ...rest } = filters;
  const query = new URLSearchParams(rest as Record<string, string>);
  if (agent !== undefined) query.set("agentPart", agent);
  if (hours !== undefined) {
    query.set("since", new Date(now - (Number(hours) || 1) * hourMs).toISOString());
  }
  if (dead === "true") query.set("deadLetter", "true");
  if (before !== "") query.set("before", before);
  return `/api/stats/triggers?${query.toString()}`;
}

/** The address of the API for the deliveries refused in the last day. */
export function refusedPath(now: number): string {
  const since = new Date(now - 24 * hourMs).toISOString();
  return `/api/stats/refused-deliveries?limit=200&since=${encodeURIComponent(since)}`;
}

const noPage: HistoryPage = { triggers: [], page: 1, limit: 50, total: 0, nextBefore: null };

/** The entries of a view: shown ones are updated, new ones are counted and shown on demand. */
function useTriggers(view: ListView, key: string, first: HistoryPage | null) {
  const latest = useDocument<HistoryPage>(() => triggersPath(view, Date.now()), {
    first,
    view: key,
    on: view.before === "" && changes("triggers"),
  });
  const now = latest.value ?? noPage;
  const [chosen, setChosen] = useState({ key: latest.view, page: now });
  const known = useRef(new Map<string, HistoryEntry>());
  for (const entry of now.triggers) known.current.set(entry.id, entry);

  const isOther = chosen.key !== latest.view || chosen.page.triggers.length === 0;
  const { page } = isOther ? { page: now } : chosen;
  const showLatest = (): void => setChosen({ key: latest.view, page: now });
  useEffect(() => {
    if (isOther) showLatest();
  }, [latest.value]);

  const newest = now.triggers[0]?.id;
  const hasNew = latest.view === key && !page.triggers.some(({ id }) => id === newest);
  return {
    ...page,
    latest,
    entries: page.triggers.map((entry) => known.current.get(entry.id) ?? entry),
    // Old entries may be deleted while new ones arrive.
    added: hasNew && newest !== undefined ? Math.max(now.total - page.total, 1) : 0,
    showLatest,
  };
}

interface TriggerFiltersProps {
  readonly views: ListViews;
  readonly firstNames: readonly string[];
}

const outcomeNames = { rejected: "rejected, unmatched" };
const spanNames = { 1: "Last hour", 24: "Last day", 168: "Last week" };

function TriggerFilters({ views, firstNames }: TriggerFiltersProps) {
  const { since } = views.view.filters;
  return (
    <Filters label="Filter the history" views={views}>
      <TextField name="agent" label="Agent" suggestions={useAgentNames(firstNames)} isLive />
      <Select name="kind" label="Trigger" values={triggerKinds} words={triggerNames} />
      <Select name="outcome" label="Outcome" values={outcomes} words={outcomeNames} />
      <Select
        name="hours"
        label="Time"
        any={since === undefined ? "Any time" : `Since ${dayTime(since)}`}
        values={Object.keys(spanNames)}
        words={spanNames}
      />
      {since !== undefined && <input type="hidden" name="since" value={since} />}
      <Checkbox name="dead">Dead letters only</Checkbox>
    </Filters>
  );
}
