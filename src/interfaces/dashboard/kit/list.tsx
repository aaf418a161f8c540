import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import { useLatest } from "../live/store.ts";
import { queryOf, viewOf, type ListView } from "./list-view.ts";
import { Table } from "./table.tsx";

/**
 * The views of a list that a reader moves through: by the filters, by older and newer pages, by the browser's history.
 */
export function useListViews(names: readonly string[], first: ListView) {
  const [view, setView] = useState(first);
  /** Newer views: those left by going to older pages. */
  const [newer, setNewer] = useState<readonly ListView[]>([]);
  const latest = useLatest(newer);
  const goTo = (next: ListView, path: readonly ListView[]): void => {
    const query = queryOf(next);
    // The Enter key changes a field and submits the form.
    if (query === queryOf(viewOf(names, new URLSearchParams(location.search)))) return;
    setView(next);
    setNewer(path);
    history.pushState(null, "", query === "" ? location.pathname : `?${query}`);
  };
  useEffect(() => {
    const follow = (): void => {
      const next = viewOf(names, new URLSearchParams(location.search));
      setView(next);
      setNewer(next.before === "" ? [] : latest.current.slice(0, -1));
    };
    addEventListener("popstate", follow);
    return () => removeEventListener("popstate", follow);
  }, []);
  return {
    view,
    key: queryOf(view),
    isNarrow: Object.keys(view.filters).length > 0,
    newer,
    filter: (filters: ListView["filters"]) => goTo({ filters, before: "" }, []),
    toNewest: () => goTo({ ...view, before: "" }, []),
    toNewer: () => goTo(newer.at(-1) ?? view, newer.slice(0, -1)),
    toOlder: (before: string) => goTo({ ...view, before }, [...newer, view]),
  };
}

export type ListViews = ReturnType<typeof useListViews>;

interface ListProps {
  readonly id: string;
  readonly columns: readonly string[];
  readonly rows: readonly ComponentChildren[];
  /** Shown instead of an empty table; null before the rows are known. */
  readonly none: ComponentChildren;
}

/** The table of a list; its id is its class, too. */
export function List({ id, columns, rows, none }: ListProps) {
  const isEmpty = rows.length === 0;
  return (
    <>
      <Table class={id} columns={columns} rowsId={id} hidden={isEmpty}>
        {rows}
      </Table>
      <div class="muted none" id={`${id}-none`} role="status" hidden={!isEmpty || none === null}>
        {none}
      </div>
    </>
  );
}

interface PagerProps {
  readonly label: string;
  readonly views: ListViews;
  /** The cursor of the older entries; null on the last page. */
  readonly older: string | null;
}

/** Leads to older and newer pages of a list. */
export function Pager({ label, views, older }: PagerProps) {
  const { view, newer, toNewest, toNewer, toOlder } = views;
  const isNewest = view.before === "";
  const button = (id: string, text: string, isPressable: boolean, go: () => void) => (
    <button
      class="button"
      type="button"
      id={id}
      aria-disabled={isPressable ? undefined : "true"}
      onClick={() => isPressable && go()}
    >
      {text}
    </button>
  );
  return (
    <nav class="pager" id="pager" aria-label={label} hidden={isNewest && older === null}>
      {button("newest", "Newest", !isNewest, toNewest)}
      {button("newer", "← Newer", newer.length > 0, toNewer)}
      <span class="muted" id="place">
        {isNewest ? "Newest" : `Page ${newer.length + 1}`}
      </span>
      {button("older", "Older →", older !== null, () => toOlder(older ?? ""))}
    </nav>
  );
}
