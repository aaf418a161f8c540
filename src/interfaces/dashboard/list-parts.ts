import { html } from "./html.ts";
import type { Html } from "./html.ts";

/** A choice among the filters of a list; nothing chosen is `any`. `words` is what is shown in place of a value. */
export function select(
  { name, label, any }: { readonly name: string; readonly label: string; readonly any: string },
  values: readonly string[],
  words: Readonly<Partial<Record<string, string>>> = {},
): Html {
  return html`<label
    >${label}
    <select class="filter" name="${name}" aria-label="${label}">
      <option value="">${any}</option>
      ${values.map(
        (value) =>
          html`<option value="${value}">${words[value] ?? value.replaceAll("_", " ")}</option>`,
      )}
    </select>
  </label>`;
}

/** The filter by agent; the page's script offers the names. */
export const agentField: Html = html`<label
    >Agent <input class="filter" name="agent" list="agent-names" autocomplete="off"
  /></label>
  <datalist id="agent-names"></datalist>`;

/** Leads to older and newer pages of a list. */
export function pager(label: string): Html {
  return html`<nav class="pager" id="pager" aria-label="${label}" hidden>
    <button class="button" type="button" id="newest">Newest</button>
    <button class="button" type="button" id="newer">← Newer</button>
    <span class="muted" id="place"></span>
    <button class="button" type="button" id="older">Older →</button>
  </nav>`;
}
