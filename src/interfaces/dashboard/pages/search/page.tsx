import { outcomes } from "../../../../../streams/outcomes.ts";
import { useEffect, useState } from "preact/hooks";
import { searchKinds } from "../../../../features/search/search-kinds.ts";
import type {
  SearchIndexing,
  SearchPage,
  SearchRun,
} from "../../../../features/search/search-report.ts";
import { counted } from "../../../../foundation/contracts/format.ts";
import { fetchJson } from "../../live/api.ts";
import { useAgentNames } from "../../live/agents.ts";
import { useLatest } from "../../live/store.ts";
import { Action } from "../../kit/action.tsx";
import { Copied } from "../../kit/copied.tsx";
import { Filters, Select, TextField, useFieldValue } from "../../kit/fields.tsx";
import {
  listStyles,
  useListViews,
  type ListData,
  type ListPage,
  type ListViews,
} from "../../kit/list.tsx";
import { SearchResult, searchKindNames } from "./result.tsx";
import { Failed } from "../../kit/panel.tsx";
import { Notice, Site } from "../../kit/site.tsx";

import { listTime } from "../../text/format.ts";
import type { ListView } from "../../kit/list-view.ts";

interface SearchData {
  /** The first runs. */
  readonly found: SearchPage;
}

/** Search over the logs of all agents: the runs with lines that match. */
export const page: ListPage<SearchData> = {
  name: "search",
  title: () => "Search",
  styles: [...listStyles, "search"],
  filters: ["q", "agent", "outcome", "kind", "since", "order"],
  paths: { found: (view, now) => searchPath(view, null, now) },
  view: Search,
};

function Search({ frame, view, first }: ListData<SearchData>) {
  const views = useListViews(page.filters, view);
  const { q = "" } = views.view.filters;
  const search = useSearch(views.view, views.key, first.found.value);
  const { runs, next, indexedUntil, indexing, failure, isReading, readMore } = search;
  const total = `${counted(runs.length, "run")}${next === null ? "" : " so far"}`;
  return (
    <Site frame={frame} title="Search" total={runs.length > 0 && total} current="search">
      <SearchForm views={views} firstNames={frame.agentNames} />
      <Failed failure={failure} retry={readMore} />
      <Notice kind="warning" id="search-behind" text={behindText(indexedUntil, indexing)} />
      <div id="results">
        {runs.map((run, index) => (
          <SearchResult run={run} words={q} key={`${views.key} ${index}`} />
        ))}
      </div>
      <div
        class="muted none"
        id="none"
        role="status"
        hidden={runs.length > 0 || (failure !== "" && !isReading)}
      >
        {isReading ? "Searching …" : noneText(views.view, next !== null, indexing !== null)}
      </div>
      <nav class="pager" aria-label="More results" hidden={next === null}>
        <Action act={readMore} class="button">
          More runs
        </Action>
      </nav>
    </Site>
  );
}

/** Whether a view asks for anything. */
function hasWords({ filters }: ListView): boolean {
  return (filters.q ?? "") !== "";
}

function noneText(view: ListView, isMore: boolean, isIndexing: boolean) {
  const { filters } = view;
  if (!hasWords(view)) {
    return (
      <>
        <p>Search the logs of all agents and of the scheduler. The same in a shell:</p>
        <Copied text="al logs --grep 'timed out'" label="Command" />
      </>
    );
  }
  if (isIndexing) return "Nothing found so far.";
  if (isMore) return "Nothing found so far: the rest of the logs is searched on demand.";
  const isFiltered = Object.keys(filters).some((key) => key !== "q" && key !== "order");
  return isFiltered ? "No lines match with these filters." : "No lines match.";
}

/** From this delay of the index on, the page shows it. */
const behindMs = 60_000;

function behindText(
  indexedUntil: string | null | undefined,
  indexing: SearchIndexing | null,
): string | null {
  if (indexing !== null) {
    const { percent, daysDone, days } = indexing;
    const done = daysDone === 0 ? "" : `, the newest ${daysDone} of ${counted(days, "day")}`;
    return `The logs are being indexed: ${percent} %${done}. Lines that are not indexed yet are not found.`;
  }
  if (indexedUntil === undefined || indexedUntil === null) return null;
  const until = Date.parse(indexedUntil);
  if (Date.now() - until <= behindMs) return null;
  return `The logs are still being indexed. Lines after ${listTime(until)} are not searched yet.`;
}

interface Found {
  /** The view of this result. */
  readonly key: string;
  readonly runs: readonly SearchRun[];
  readonly next: string | null;
  /** Undefined before the first response. */
  readonly indexedUntil?: string | null;
  readonly indexing: SearchIndexing | null;
  readonly failure: string;
  readonly isReading: boolean;
}

/** Runs of a page of the API. */
const pageRuns = 20;
/** While logs are indexed, a search that shows one page is repeated after this long. */
const growingMs = 5_000;
/** How many pages without a run are requested in a row. */
const emptyPages = 10;

/** The runs of a view, page by page; a response for an earlier view is dropped. */
function useSearch(view: ListView, key: string, first: SearchPage | null) {
  const nothing = { runs: [], next: null, indexing: null, failure: "" };
  const none: Found = { key, ...nothing, isReading: hasWords(view) };
  const isKnown = first !== null && (first.runs.length > 0 || first.next === null);
  const [found, setFound] = useState(isKnown ? { ...none, ...first, isReading: false } : none);
  const latestKey = useLatest(key);
  const shown = found.key === key ? found : none;
  /** Reads until a page has a run: an empty page may have a next one. */
  const readAfter = async (known: Found): Promise<void> => {
    let now = known;
    for (let pages = 1; pages <= emptyPages; pages++) {
      const fetched = await fetchJson<SearchPage>(searchPath(view, now.next, Date.now()));
      if (latestKey.current !== key) return;
      if (!fetched.ok) return setFound({ ...now, failure: fetched.detail, isReading: false });
      const { runs, next, indexedUntil, indexing } = fetched.value;
      const isReading = runs.length === 0 && next !== null && pages < emptyPages;
      now = { ...now, runs: [...now.runs, ...runs], next, indexedUntil, indexing, isReading };
      setFound(now);
      if (!isReading) return;
    }
  };
  useEffect(() => {
    if (shown.isReading) void readAfter(shown);
  }, [key]);
  const isGrowing = shown.indexing !== null && !shown.isReading && shown.runs.length <= pageRuns;
  useEffect(() => {
    if (!isGrowing) return undefined;
    const again = async (): Promise<void> => {
      const fetched = await fetchJson<SearchPage>(searchPath(view, null, Date.now()));
      // A failure shows the same lines, and is followed by another attempt.
      const fresh = fetched.ok ? { ...none, ...fetched.value, isReading: false } : { ...shown };
      if (latestKey.current === key) setFound(fresh);
    };
    const timer = setTimeout(() => void again(), growingMs);
    return () => clearTimeout(timer);
  }, [found]);
  return { ...shown, readMore: () => readAfter({ ...shown, failure: "", isReading: true }) };
}

/** Times from which lines are searched, by their names in the address. */
const spans: Readonly<Partial<Record<string, { readonly words: string; readonly ms: number }>>> = {
  "1h": { words: "Last hour", ms: 3_600_000 },
  "24h": { words: "Last day", ms: 86_400_000 },
  "7d": { words: "Last week", ms: 7 * 86_400_000 },
  "30d": { words: "Last 30 days", ms: 30 * 86_400_000 },
};

const minuteMs = 60_000;

/** The address of the API for the runs of a view after those that are known; the same within a minute. */
export function searchPath({ filters }: ListView, next: string | null, now: number): string {
  const { since, ...rest } = filters;
  const query = new URLSearchParams(rest as Record<string, string>);
  if (since !== undefined) {
    const { ms } = spans[since] ?? {};
    const minute = Math.floor(now / minuteMs) * minuteMs;
    query.set("since", ms === undefined ? since : new Date(minute - ms).toISOString());
  }
  if (next !== null) query.set("before", next);
  return `/api/search?${query.toString()}`;
}

interface SearchFormProps {
  readonly views: ListViews;
  readonly firstNames: readonly string[];
}

function SearchForm({ views, firstNames }: SearchFormProps) {
  const { q = "", since = "" } = views.view.filters;
  // A link may have a time that the list lacks.
  const times = [...Object.keys(spans), ...(since === "" || since in spans ? [] : [since])];
  const words = Object.fromEntries(times.map((one) => [one, spans[one]?.words ?? momentText(one)]));
  const field = useFieldValue<HTMLInputElement>(q);
  return (
    <Filters label="Search all logs" role="search" views={views} kept={q === "" ? {} : { q }}>
      <label class="words">
        Words in the log
        <input
          class="filter"
          type="search"
          name="q"
          maxLength={400}
          autocomplete="off"
          spellcheck={false}
          aria-describedby="search-help"
          defaultValue={q}
          ref={field}
        />
      </label>
      <button class="button primary" type="submit">
        Search
      </button>
      <p class="muted" id="search-help">
        All words must be in one line. <code>"in quotes"</code> is a phrase; <code>time*</code>{" "}
        matches words starting with “time”.
      </p>
      <TextField name="agent" label="Agent" suggestions={useAgentNames(firstNames)} />
      <Select name="outcome" label="Outcome" values={outcomes} />
      <Select
        name="kind"
        label="Lines"
        any="All but prompts"
        values={searchKinds}
        words={searchKindNames}
      />
      <Select name="since" label="Time" any="Any time" values={times} words={words} />
      <Select
        name="order"
        label="Order"
        any="Newest first"
        values={["oldest"]}
        words={{ oldest: "Oldest first" }}
      />
    </Filters>
  );
}

function momentText(since: string): string {
  return Number.isNaN(Date.parse(since)) ? since : `Since ${listTime(since)}`;
}
