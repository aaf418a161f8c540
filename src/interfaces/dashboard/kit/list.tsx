import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import { useLatest } from "../live/store.ts";
import { useDocument, type DocumentOptions, type FirstDocument } from "../live/use-document.ts";
import type { LivePage } from "../send-page.tsx";
import { queryOf, viewOf, type ListView } from "./list-view.ts";
import { frameStyles, type Frame } from "./site.tsx";
import { Panel } from "./panel.tsx";
import { Table, type TableProps } from "./table.tsx";

/** Styles of a page with a list in the frame. */
export const listStyles = [...frameStyles, "history", "list"];

/** Data of a page whose address has a view. */
export interface ListData<Documents> {
  readonly frame: Frame;
  readonly view: ListView;
  readonly first: { readonly [Name in keyof Documents]: FirstDocument<Documents[Name]> };
}

/** A page whose address has a view, and the documents of that view. */
export interface ListPage<Documents, More = unknown> extends LivePage<ListData<Documents> & More> {
  /** The filters among the parameters of its address. */
  readonly filters: readonly string[];
  /** The addresses of the API for a view, at a moment in epoch ms. */
  readonly paths: { readonly [Name in keyof Documents]: (view: ListView, now: number) => string };
}

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

/** The views of a page, and how it reads the documents of the current one. */
export function useListPage<Documents, More>(
  { filters, paths }: ListPage<Documents, More>,
  { view, first }: ListData<Documents>,
) {
  const views = useListViews(filters, view);
  const useRead = <Name extends keyof Documents>(
    name: Name,
    options?: DocumentOptions<Documents[Name]>,
  ) => {
    const path = (now: number) => paths[name](views.view, now);
    return useDocument(path, { view: views.key, ...first[name], ...options });
  };
  return { views, useRead };
}

interface ListProps<Row> extends TableProps<Row> {
  /** The title of its panel; by default without. */
  readonly title?: string;
  readonly isTitleHidden?: boolean;
  /** The class of its panel. */
  readonly look?: string;
  /** Shown instead of an empty table; null before the rows are known. */
  readonly none: ComponentChildren;
  /** Content above the table. */
  readonly children?: ComponentChildren;
}

/** The panel of a list: a table, or a text instead of an empty one. */
export function List<Row extends object>(props: ListProps<Row>) {
  const { title, isTitleHidden, look, none, children, ...table } = props;
  const { id, rows } = table;
  const isEmpty = rows.length === 0;
  const content = (
    <>
      {children}
      <Table {...table} hidden={isEmpty} />
      <div class="muted none" id={`${id}-none`} role="status" hidden={!isEmpty || none === null}>
        {none}
      </div>
    </>
  );
  if (title === undefined) return <div class="panel">{content}</div>;
  return (
    <Panel id={`${id}-part`} title={title} isTitleHidden={isTitleHidden} class={look}>
      {content}
    </Panel>
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
