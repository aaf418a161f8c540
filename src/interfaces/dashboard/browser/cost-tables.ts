import type { SpendLimit, SpendRowView } from "../../../foundation/contracts/spend-report.ts";
import { dollars, doubtText, scopeName } from "../../../foundation/contracts/spend-text.ts";
import { counted } from "../../../foundation/contracts/format.ts";
import { plainText } from "../../../foundation/contracts/plain-text.ts";
import { agentAddress } from "./addresses.ts";
import { create, createLink, createSvg } from "./dom.ts";
import { compactCount } from "./format.ts";
import { percent } from "./timeline-layout.ts";

/** How many rows are shown: a reader of thousands looks at the dearest. */
const mostRows = 200;

/** A row that says how many more there are; none when all are shown. */
function moreRow(all: number, noun: string, columns: number): readonly HTMLElement[] {
  if (all <= mostRows) return [];
  const cell = create("td", "muted", `and ${counted(all - mostRows, noun)} more`);
  cell.setAttribute("colspan", String(columns));
  return [create("tr", "", cell)];
}

/** Fills a table of agents or of models, the dearest first. */
export function showRows(
  body: HTMLElement,
  rows: readonly SpendRowView[],
  kind: "agent" | "model",
): void {
  const most = Math.max(0, ...rows.map(({ usd }) => usd));
  body.replaceChildren(
    ...rows.slice(0, mostRows).map((row) => {
      const name =
        kind === "agent" ? createLink(agentAddress(row.key), "", row.key) : plainText(row.key);
      return create(
        "tr",
        "",
        create(
          "td",
          "cost-name",
          name,
          ...(kind === "model" ? pillsOf(row) : []),
          create("div", "sub", doubtText(row)),
        ),
        amount(dollars(row.usd), share(row.usd, 0, most)),
        create("td", "number", row.calls.toLocaleString("en")),
        create("td", "number", compactCount(row.tokens)),
      );
    }),
    ...moreRow(rows.length, kind, 4),
  );
}

function pillsOf({ unpriced }: SpendRowView): readonly (HTMLElement | string)[] {
  return unpriced === 0 ? [] : [" ", create("span", "pill held", "unpriced")];
}

/** Fills the table of limits: those that there are, and windows without one in which something was spent. */
export function showLimits(body: HTMLElement, limits: readonly SpendLimit[]): void {
  const used = limits.filter(({ usd, reserved, limit }) => usd + reserved > 0 || limit !== null);
  body.replaceChildren(
    ...used
      .slice(0, mostRows)
      .map(({ scope, window, usd, reserved, limit }) =>
        create(
          "tr",
          "",
          create("td", "cost-name", plainText(scopeName(scope))),
          create("td", "number", window),
          create(
            "td",
            "number",
            dollars(usd),
            limit === null ? "" : share(usd, reserved, limit),
            create("div", "sub", reserved === 0 ? "" : `${dollars(reserved)} reserved`),
          ),
          create("td", "number", limit === null ? "none" : dollars(limit)),
        ),
      ),
    ...moreRow(used.length, "limit", 4),
  );
}

function amount(text: string, bar: SVGElement): HTMLElement {
  return create("td", "number", text, bar);
}

/** How much of a whole is spent, and how much more of it is reserved. */
function share(usd: number, reserved: number, whole: number): SVGElement {
  const part = (value: number): number => (whole <= 0 ? 1 : Math.min(1, value / whole));
  const [spent, held] = [part(usd), part(usd + reserved)];
  const height = 4;
  return createSvg(
    "svg",
    { class: "share", height, "aria-hidden": "true" },
    createSvg("rect", { class: "all", width: "100%", height }),
    createSvg("rect", { class: "held", width: percent(held), height }),
    createSvg("rect", { class: "spent", width: percent(spent), height }),
  );
}
