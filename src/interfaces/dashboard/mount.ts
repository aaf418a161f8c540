import { h, hydrate, type FunctionComponent } from "preact";
import { useEffect } from "preact/hooks";
import { markHydrated } from "./live/clock.ts";

/** Takes over the page that the server rendered, with the data that the server left in it. */
export function mount<Data extends object>(view: FunctionComponent<Data>): void {
  const data = document.getElementById("page-data")?.textContent ?? "{}";
  const root = () => {
    useEffect(markHydrated, []);
    return h(view, JSON.parse(data) as Data);
  };
  hydrate(h(root, {}), document.body);
}
