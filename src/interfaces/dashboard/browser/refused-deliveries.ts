import { counted } from "../../../foundation/contracts/format.ts";
import { refusalWord } from "../../../foundation/contracts/delivery-words.ts";
import type {
  RefusedDeliveries,
  RefusedDeliveriesAnswer,
} from "../../../foundation/contracts/refused-deliveries.ts";
import { plainText } from "../../../foundation/contracts/plain-text.ts";
import { fetchJson } from "./api.ts";
import { byId, create, setText } from "./dom.ts";
import { createTime } from "./time-cell.ts";
import { createViews } from "./views.ts";
import type { View } from "./views.ts";

const dayMs = 86_400_000;

/** The panel of deliveries that were refused in the last day; hidden while there are none. */
export interface RefusedDeliveriesView {
  /** Reads them again. */
  read(): Promise<void>;
  tick(now: number): void;
}

/** Fills the page's panel. */
export function createRefusedDeliveries(): RefusedDeliveriesView {
  const keyOf = ({ type, source, result, firstAt }: RefusedDeliveries): string =>
    [type, source, result, firstAt].join(" ");
  const rows = createViews(byId("refused-list"), keyOf, createRow);
  return {
    read: async () => {
      const since = new Date(Date.now() - dayMs).toISOString();
      const path = `/api/stats/refused-deliveries?limit=200&since=${encodeURIComponent(since)}`;
      const fetched = await fetchJson<RefusedDeliveriesAnswer>(path);
      if (!fetched.ok) return;
      const { deliveries } = fetched.value;
      rows.show(deliveries);
      byId("refused").hidden = deliveries.length === 0;
      setText(byId("refused-summary"), summaryOf(deliveries));
    },
    tick: rows.tick,
  };
}

function summaryOf(deliveries: readonly RefusedDeliveries[]): string {
  const numberOf = (word: string): number =>
    deliveries
      .filter(({ result }) => refusalWord(result) === word)
      .reduce((sum, { count }) => sum + count, 0);
  const [refused, duplicates] = [numberOf("refused"), numberOf("duplicate")];
  const parts = [
    ...(refused === 0 ? [] : [`${refused.toLocaleString("en")} refused`]),
    ...(duplicates === 0 ? [] : [counted(duplicates, "duplicate")]),
  ];
  return `Deliveries in the last day: ${parts.join(", ")}`;
}

function createRow(): View<RefusedDeliveries> {
  const at = createTime("past");
  const [what, source, why] = [create("span", "outcome"), create("strong"), create("span", "why")];
  const times = create("span", "muted");
  const element = create("li", "", source, what, times, at.element, why);
  return {
    elements: () => [element],
    show: ({ type, source: name, result, count, lastAt, reason }) => {
      setText(source, name ?? type);
      setText(what, refusalWord(result));
      setText(times, count === 1 ? "once" : `${count.toLocaleString("en")} times`);
      at.show(lastAt, "–");
      setText(why, plainText(reason));
    },
    tick: (now) => at.tick(now),
  };
}
