import { create, setAttribute, setAttributes } from "./dom.ts";
import { placesFor, readPlaces } from "./jump-places.ts";
import type { Place } from "./jump-places.ts";

/** The dialog that jumps to an agent, a page or a run. `pages` are offered before anything is read. */
export function createJump(pages: readonly Place[]): { readonly open: () => void } {
  const field = create("input");
  const list = create("ul");
  list.id = "jump-list";
  const dialog = create("dialog", "keys jump-to", field, list);
  dialog.setAttribute("aria-label", "Jump to");
  setAttributes(field, {
    // A search field would take the first Escape for itself.
    type: "text",
    role: "combobox",
    "aria-label": "Jump to an agent, a page or a run",
    placeholder: "Jump to an agent, a page or a run",
    "aria-controls": list.id,
    "aria-expanded": "true",
    "aria-autocomplete": "list",
    autocomplete: "off",
  });
  setAttributes(list, { role: "listbox", "aria-label": "Places" });
  document.body.append(dialog);

  let places = pages;
  let shown: readonly Place[] = [];
  let chosen = 0;
  let reading = Promise.resolve();
  const choose = (index: number): void => {
    chosen = Math.max(0, Math.min(index, shown.length - 1));
    for (const [at, option] of [...list.children].entries())
      setAttribute(option, "aria-selected", String(at === chosen));
    const option = list.children[chosen];
    setAttribute(field, "aria-activedescendant", option?.id ?? null);
    option?.scrollIntoView({ block: "nearest" });
  };
  const show = (): void => {
    shown = placesFor(field.value, places);
    list.replaceChildren(...shown.map(optionOf));
    choose(0);
  };
  const go = (place: Place | undefined): void => {
    if (place !== undefined) location.assign(place.address);
  };
  field.addEventListener("input", show);
  field.addEventListener("keydown", (event) => {
    if (event.key === "ArrowDown") choose(chosen + 1);
    else if (event.key === "ArrowUp") choose(chosen - 1);
    else if (event.key === "Enter") void reading.then(() => go(shown[chosen]));
    else return;
    event.preventDefault();
  });
  list.addEventListener("click", ({ target }) => {
    const option = target instanceof Element ? target.closest("li") : null;
    if (option !== null) go(shown[[...list.children].indexOf(option)]);
  });
  return {
    open: () => {
      field.value = "";
      show();
      dialog.showModal();
      // Enter waits for it: the first place so far may not be the one that the words mean.
      reading = readPlaces().then((read) => {
        places = [...pages, ...read];
        show();
      });
    },
  };
}

function optionOf({ kind, name, note }: Place, index: number): HTMLElement {
  const option = create(
    "li",
    "",
    create("span", "muted", kind),
    create("span", "place", name),
    create("span", "muted", note),
  );
  setAttributes(option, { id: `place-${index}`, role: "option" });
  return option;
}
