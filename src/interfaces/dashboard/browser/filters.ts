import { byId } from "./dom.ts";

/** The view of a list that an address stands for: the filters, and the cursor of a page. */
export interface ListView {
  readonly filters: Readonly<Record<string, string>>;
  /** Empty for the newest page. */
  readonly before: string;
}

/** The form `#filters` of a page; its fields have the names that the filters have in the address. */
export interface Filters {
  /** The view of the page's address. */
  readonly ofAddress: () => ListView;
  /** The filters as the form has them. */
  readonly ofForm: () => ListView["filters"];
  /** Writes the filters into the form. */
  readonly show: (view: ListView) => void;
}

export function createFilters(names: readonly string[]): Filters {
  const given = (valueOf: (name: string) => string): ListView["filters"] =>
    Object.fromEntries(
      names.map((name) => [name, valueOf(name)] as const).filter(([, value]) => value !== ""),
    );
  return {
    ofAddress: () => {
      const query = new URLSearchParams(location.search);
      const filters = given((name) => query.get(name) ?? "");
      return { filters, before: query.get("before") ?? "" };
    },
    ofForm: () =>
      given((name) => {
        const element = field(name);
        return isCheckbox(element) ? (element.checked ? "true" : "") : element.value.trim();
      }),
    show: ({ filters }) => {
      for (const name of names) {
        const element = field(name);
        const value = filters[name] ?? "";
        if (isCheckbox(element)) element.checked = value === "true";
        else if (element.value !== value) element.value = value;
      }
      byId("all").hidden = Object.keys(filters).length === 0;
    },
  };
}

/** Offers these agents in the form's field for one. */
export function offerAgents(agents: readonly { readonly name: string }[]): void {
  byId("agent-names").replaceChildren(...agents.map(({ name }) => new Option("", name)));
}

/** The address of a view. */
export function addressOf({ filters, before }: ListView): string {
  const query = new URLSearchParams(filters);
  if (before !== "") query.set("before", before);
  const text = query.toString();
  return text === "" ? location.pathname : `${location.pathname}?${text}`;
}

function field(name: string): HTMLInputElement | HTMLSelectElement {
  const element = byId("filters", HTMLFormElement).elements.namedItem(name);
  const isField = element instanceof HTMLInputElement || element instanceof HTMLSelectElement;
  if (!isField) throw new Error(`the page has no filter ${name}`);
  return element;
}

function isCheckbox(element: HTMLElement): element is HTMLInputElement {
  return element instanceof HTMLInputElement && element.type === "checkbox";
}
