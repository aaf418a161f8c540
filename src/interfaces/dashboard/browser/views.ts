/** What a list shows of one item. It is made once; each change is written into it, so focus and selection stay. */
export interface View<Item> {
  /** Its elements in the list, of which there may be more while something is unfolded. */
  readonly elements: () => readonly Element[];
  readonly show: (item: Item) => void;
  /** Shows what changes with the time alone. */
  readonly tick?: (now: number) => void;
}

/** The items of a list, each with a view as long as it is in the list. */
export interface Views<Item> {
  /** Shows these items in this order. Only a view that stands elsewhere is moved: a move takes the focus. */
  readonly show: (items: readonly Item[]) => void;
  readonly tick: (now: number) => void;
}

/** Fills an empty list. */
export function createViews<Item>(
  list: Element,
  keyOf: (item: Item) => string,
  createView: (item: Item) => View<Item>,
): Views<Item> {
  const views = new Map<string, View<Item>>();
  return {
    show: (items) => {
      const keys = new Set(items.map(keyOf));
      for (const [key, view] of views) {
        if (keys.has(key)) continue;
        for (const element of view.elements()) element.remove();
        views.delete(key);
      }
      let place = list.firstElementChild;
      for (const item of items) {
        const view = views.get(keyOf(item)) ?? createView(item);
        views.set(keyOf(item), view);
        view.show(item);
        const elements = view.elements();
        if (elements[0] !== place) {
          if (place === null) list.append(...elements);
          else place.before(...elements);
        }
        place = elements.at(-1)?.nextElementSibling ?? null;
      }
    },
    tick: (now) => {
      for (const view of views.values()) view.tick?.(now);
    },
  };
}
