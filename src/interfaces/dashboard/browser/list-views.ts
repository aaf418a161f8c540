import { byId, setAttribute, setText } from "./dom.ts";
import { addressOf } from "./filters.ts";
import type { Filters, ListView } from "./filters.ts";

/** The views of a list that a reader goes through: by the filters, by older and newer pages, by the browser's history. */
export interface ListViews {
  readonly current: () => ListView;
  /** Shows whether there are older entries; null for none. */
  readonly showPager: (older: string | null) => void;
}

/** `show` is called each time that another view is to be shown. */
export function createListViews(filters: Filters, show: () => void): ListViews {
  let view = filters.ofAddress();
  let older: string | null = null;
  /** The views that led here by going to older pages. */
  let newer: readonly ListView[] = [];

  const goTo = (next: ListView): void => {
    view = next;
    history.pushState(null, "", addressOf(view));
    show();
  };
  const goToNewest = (next: ListView["filters"]): void => {
    newer = [];
    goTo({ filters: next, before: "" });
  };

  onButton("older", () => {
    if (older === null) return;
    newer = [...newer, view];
    goTo({ ...view, before: older });
  });
  onButton("newer", () => {
    const last = newer.at(-1);
    newer = newer.slice(0, -1);
    if (last !== undefined) goTo(last);
  });
  onButton("newest", () => goToNewest(view.filters));
  byId("filters").addEventListener("submit", (event) => event.preventDefault());
  byId("filters").addEventListener("change", () => goToNewest(filters.ofForm()));
  byId("filters").addEventListener("reset", (event) => {
    event.preventDefault();
    goToNewest({});
  });
  addEventListener("popstate", () => {
    view = filters.ofAddress();
    newer = view.before === "" ? [] : newer.slice(0, -1);
    show();
  });

  return {
    current: () => view,
    showPager: (next) => {
      older = next;
      const isNewest = view.before === "";
      byId("pager").hidden = isNewest && next === null;
      setPressable("newest", !isNewest);
      setPressable("newer", newer.length > 0);
      setPressable("older", next !== null);
      setText(byId("place"), isNewest ? "Newest" : `Page ${newer.length + 1}`);
    },
  };
}

function setPressable(id: string, isPressable: boolean): void {
  setAttribute(byId(id), "aria-disabled", isPressable ? null : "true");
}

function onButton(id: string, action: () => void): void {
  byId(id).addEventListener("click", () => {
    if (byId(id).getAttribute("aria-disabled") !== "true") action();
  });
}
