import { outcomes } from "../../../../../streams/outcomes.ts";
import { useEffect, useRef, useState } from "preact/hooks";
import { triggerKinds, triggerNames } from "../../../../../streams/vocabulary.ts";
import { counted } from "../../../../foundation/contracts/format.ts";
import type { HistoryEntry, HistoryPage } from "../../../../foundation/contracts/history.ts";
import type { RefusedDeliveriesAnswer } from "../../../../features/webhooks/delivery-report.ts";
import { useAgentNames } from "../../live/agents.ts";
import type { ReadDocument } from "../../live/use-document.ts";
import { Copied } from "../../kit/copied.tsx";
import { Checkbox, Filters, Select, TextField } from "../../kit/fields.tsx";
import {
  listStyles,
  List,
  Pager,
  useListPage,
  type ListData,
  type ListPage,
} from "../../kit/list.tsx";
import { noteOpened, triggerColumns } from "./columns.tsx";
import { EntryDetails } from "./details.tsx";
import { Refused } from "./refused.tsx";
import { Site } from "../../kit/site.tsx";
import { listTime } from "../../text/format.ts";
import type { ListView } from "../../kit/list-view.ts";
import { pathOf } from "../../text/addresses.ts";

interface TriggersData {
  readonly history: HistoryPage;
  /** The deliveries refused in the last day. */
  readonly refused: RefusedDeliveriesAnswer;
}

interface OpenedEntry {
  /** The entry that the address names, which is open. */
  readonly opened: HistoryEntry | null;
}

/** The history of all triggers, including those that started nothing, and why. */
export const page: ListPage<TriggersData, OpenedEntry> = {
  name: "triggers",
  title: () => "Triggers",
  styles: [...listStyles, "calls", "triggers"],
  filters: ["agent", "kind", "outcome", "since", "hours", "dead"],
  paths: { history: triggersPath, refused: (_view, now) => refusedPath(now) },
  view: Triggers,
};

const hourMs = 3_600_000;

function Triggers({ opened, ...data }: ListData<TriggersData> & OpenedEntry) {
  const { views, useRead } = useListPage(page, data);
  const { since } = views.view.filters;
  const agentNames = useAgentNames(data.frame.agentNames);
  // Older pages stay as they are.
  const latest = useRead("history", views.view.before === "" ? {} : { changedBy: [] });
  const denied = useRead("refused", { view: "", isQuiet: true });
  const list = useTriggers(latest);
  const { total, nextBefore } = list;
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
  const none = views.isNarrow ? (
    "No entries match these filters."
  ) : (
    <>
      <p>
        Nothing has triggered an agent yet. Schedules, webhooks, calls and manual runs appear here.
      </p>
      <Copied text={`al run ${agentNames[0] ?? "<agent>"}`} label="Command" />
    </>
  );
  return (
    <Site
      frame={data.frame}
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
      <Filters label="Filter the history" views={views}>
        <TextField name="agent" label="Agent" suggestions={agentNames} isLive />
        <Select name="kind" label="Trigger" values={triggerKinds} words={triggerNames} />
        <Select name="outcome" label="Outcome" values={outcomes} words={outcomeNames} />
        <Select
          name="hours"
          label="Time"
          any={since === undefined ? "Any time" : `Since ${listTime(since)}`}
          values={Object.keys(spanNames)}
          words={spanNames}
        />
        {since !== undefined && <input type="hidden" name="since" value={since} />}
        <Checkbox name="dead">Not processed only</Checkbox>
      </Filters>
      <Refused {...denied.value} />
      <List
        id="trigger-rows"
        title="Trigger history"
        isTitleHidden
        columns={triggerColumns}
        rows={entries}
        keyOf={({ id }) => id}
        details={EntryDetails}
        opened={opened?.id}
        onUnfold={noteOpened}
        none={isKnown ? none : null}
        key={views.key}
      />
      <Pager label="Pages of the history" views={views} older={nextBefore} />
    </Site>
  );
}

function triggersPath({ filters, before }: ListView, now: number): string {
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

function refusedPath(now: number): string {
  const since = new Date(now - 24 * hourMs).toISOString();
  return pathOf`/api/stats/refused-deliveries?limit=200&since=${since}`;
}

const noPage: HistoryPage = { triggers: [], page: 1, limit: 50, total: 0, nextBefore: null };

/** The entries of a view: shown ones are updated, new ones are counted and shown on demand. */
function useTriggers({ value, view, isMissing }: ReadDocument<HistoryPage>) {
  const now = value ?? noPage;
  const [chosen, setChosen] = useState({ view, page: now });
  const known = useRef(new Map<string, HistoryEntry>());
  for (const entry of now.triggers) known.current.set(entry.id, entry);

  const isOther = chosen.view !== view || chosen.page.triggers.length === 0;
  const { page } = isOther ? { page: now } : chosen;
  const showLatest = (): void => setChosen({ view, page: now });
  useEffect(() => {
    if (isOther) showLatest();
  }, [value]);

  const newest = now.triggers[0]?.id;
  const hasNew = !isMissing && !page.triggers.some(({ id }) => id === newest);
  return {
    ...page,
    entries: page.triggers.map((entry) => known.current.get(entry.id) ?? entry),
    // Old entries may be deleted while new ones arrive.
    added: hasNew && newest !== undefined ? Math.max(now.total - page.total, 1) : 0,
    showLatest,
  };
}

const outcomeNames = { rejected: "rejected, unmatched" };
const spanNames = { 1: "Last hour", 24: "Last day", 168: "Last week" };
