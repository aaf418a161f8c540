import { Component, h, type ComponentType, type FunctionComponent } from "preact";

/** A component that is rendered again only if its props differ, by default as data. */
export function memo<Props extends object>(
  view: FunctionComponent<Props>,
  isSame: (a: unknown, b: unknown) => boolean = isSameData,
): ComponentType<Props> {
  return class extends Component<Props> {
    override shouldComponentUpdate(next: Props): boolean {
      const names = Object.keys({ ...next, ...this.props }) as (keyof Props)[];
      return names.some((name) => !isSame(next[name], this.props[name]));
    }

    override render(props: Props) {
      return h(view, props);
    }
  };
}

function isSameData(a: unknown, b: unknown): boolean {
  if (Object.is(a, b)) return true;
  const isData = typeof a === "object" && typeof b === "object" && a !== null && b !== null;
  return isData && JSON.stringify(a) === JSON.stringify(b);
}
