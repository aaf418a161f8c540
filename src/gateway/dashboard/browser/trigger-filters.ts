import { byId } from "./dom.ts";

/** The view that an address stands for: the filters, and the cursor of a page. */
export interface TriggerView {
  readonly filters: Readonly<Record<string, string>>;
  readonly before: string;
}

const filterNames = ["agent", "kind", "outcome", "hours", "dead"] as const;
const hourLength = 3_600_000;

function field(name: string): HTMLInputElement | HTMLSelectElement {
  const element = byId("filters", HTMLFormElement).elements.namedItem(name);
  const isField = element instanceof HTMLInputElement || element instanceof HTMLSelectElement;
  if (!isField) throw new Error(`the page has no filter ${name}`);
  return element;
}

function isCheckbox(element: HTMLElement): element is HTMLInputElement {
  return element instanceof HTMLInputElement && element.type === "checkbox";
}

/** The view of the page's address. */
export function viewOfAddress(): TriggerView {
  const query = new URLSearchParams(location.search);
  const given = filterNames.flatMap((name) => {
    const value = query.get(name) ?? "";
    return value === "" ? [] : [[name, value] as const];
  });
  return { filters: Object.fromEntries(given), before: query.get("before") ?? "" };
}

/** The filters as the form has them. */
export function filtersOfForm(): TriggerView["filters"] {
  const given = filterNames.flatMap((name) => {
    const element = field(name);
    const text = isCheckbox(element) ? (element.checked ? "true" : "") : element.value.trim();
    return text === "" ? [] : [[name, text] as const];
  });
  return Object.fromEntries(given);
}

/** Writes the filters into the form. */
export function showFilters({ filters }: TriggerView): void {
  for (const name of filterNames) {
    const element = field(name);
    const value = filters[name] ?? "";
    if (isCheckbox(element)) element.checked = value === "true";
    else if (element.value !== value) element.value = value;
  }
  byId("all").hidden = Object.keys(filters).length === 0;
}

/** The address of a view. */
export function addressOf({ filters, before }: TriggerView): string {
  const query = new URLSearchParams(filters);
  if (before !== "") query.set("before", before);
  const text = query.toString();
  return text === "" ? location.pathname : `${location.pathname}?${text}`;
}

/** The API's query of a view. */
export function queryOf({ filters, before }: TriggerView, now: number): string {
  const { hours, dead, ...rest } = filters;
  const query = new URLSearchParams(rest);
  if (hours !== undefined) {
    query.set("since", new Date(now - (Number(hours) || 1) * hourLength).toISOString());
  }
  if (dead === "true") query.set("deadLetter", "true");
  if (before !== "") query.set("before", before);
  return query.toString();
}
