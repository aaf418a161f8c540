import type { ComponentChildren } from "preact";
import type { SpendLimit, SpendRowView } from "../../../../features/spend/spend-report.ts";
import { dollars, doubtText, scopeName, spentText } from "../../../../features/spend/spend-text.ts";
import { counted } from "../../../../foundation/contracts/format.ts";
import { plainText } from "../../../../foundation/contracts/plain-text.ts";
import { Copied } from "../../kit/copied.tsx";
import { List } from "../../kit/list.tsx";
import { Panel } from "../../kit/panel.tsx";
import { Fold, type Column } from "../../kit/table.tsx";
import { agentAddress } from "../../text/addresses.ts";
import { compactCount, isDay, percent } from "../../text/format.ts";

/** How many rows are shown: of thousands, a reader wants the most expensive. */
const mostRows = 200;

/** The first rows of a table, and how many more there are. */
function firstOf<Row>(rows: readonly Row[], noun: string) {
  const left = rows.length - mostRows;
  return { rows: rows.slice(0, mostRows), more: left > 0 ? `and ${counted(left, noun)} more` : "" };
}

interface SpendRow extends SpendRowView {
  /** The cost of the most expensive row. */
  readonly most: number;
}

const spendColumns = (
  title: string,
  nameOf: (row: SpendRowView) => ComponentChildren,
): readonly Column<SpendRow>[] => [
  [
    title,
    (row) => (
      <>
        {nameOf(row)}
        <div class="sub">{doubtText(row)}</div>
      </>
    ),
    "cost-name",
  ],
  [
    "Cost",
    ({ usd, most }) => (
      <>
        {dollars(usd)} <Share usd={usd} reserved={0} whole={most} />
      </>
    ),
    "number",
  ],
  ["Calls", ({ calls }) => calls.toLocaleString("en"), "number"],
  ["Tokens", ({ tokens }) => compactCount(tokens), "number"],
];

const columnsBy = {
  agent: spendColumns("Agent", ({ key }) => <a href={agentAddress(key)}>{key}</a>),
  model: spendColumns("Model", ({ key, unpriced }) => (
    <>
      {plainText(key)}
      {unpriced > 0 && (
        <>
          {" "}
          <span class="pill held">unpriced</span>
        </>
      )}
    </>
  )),
};

interface SpendingProps {
  readonly by: keyof typeof columnsBy;
  readonly rows: readonly SpendRowView[];
}

/** The spending of agents or of models, the most expensive first. */
export function Spending({ by, rows }: SpendingProps) {
  const most = Math.max(0, ...rows.map(({ usd }) => usd));
  return (
    <List
      id={`${by}s`}
      title={`By ${by}`}
      look="cost-part"
      columns={columnsBy[by]}
      {...firstOf(
        rows.map((row) => ({ ...row, most })),
        by,
      )}
      keyOf={({ key }) => key}
      none={null}
    />
  );
}

/** How many limits are shown; the others unfold. */
const shownLimits = 8;

/** The limits, those of the project first, and the spent part of each. */
export function Limits({ limits }: { readonly limits: readonly SpendLimit[] }) {
  const sorted = limits.toSorted((a, b) => rankOf(b) - rankOf(a));
  const more = sorted.slice(shownLimits);
  return (
    <Panel id="limits-part" title="Limits">
      {limits.length === 0 && (
        <>
          <p class="muted note">No limit is set. Set one in a config.toml:</p>
          <Copied text={"[budget]\nday = 5"} label="Lines of config.toml" />
        </>
      )}
      <Gauges id="limits" limits={sorted.slice(0, shownLimits)} />
      {more.length > 0 && (
        <Fold class="note" summary={`Show ${counted(more.length, "more limit")}`}>
          <Gauges id="more-limits" limits={more} />
        </Fold>
      )}
    </Panel>
  );
}

function rankOf(limit: SpendLimit): number {
  return limit.scope === "project" ? Infinity : usedShare(limit);
}

function usedShare({ usd, reserved, limit }: SpendLimit): number {
  return limit ? (usd + reserved) / limit : 1;
}

interface GaugesProps {
  readonly id: string;
  readonly limits: readonly SpendLimit[];
}

function Gauges({ id, limits }: GaugesProps) {
  return (
    <ul class="gauges" id={id}>
      {limits.map((limit) => (
        <Gauge {...limit} key={`${limit.scope} ${limit.window}`} />
      ))}
    </ul>
  );
}

/** From this share on, a limit is close. */
const closeShare = 0.8;

function Gauge(limit: SpendLimit) {
  const { scope, usd, reserved, limit: whole } = limit;
  const share = usedShare(limit);
  const look = share >= 1 ? "error" : share >= closeShare ? "warning" : "";
  return (
    <li class={look}>
      <span>
        <strong>{plainText(scopeName(scope))}</strong>{" "}
        <span class="muted">{isDay(limit) ? "today" : "this month"}</span>
      </span>
      <span class="number">{spentText(limit)}</span>
      <Share usd={usd} reserved={reserved} whole={whole ?? 0} />
    </li>
  );
}

interface ShareProps {
  readonly usd: number;
  readonly reserved: number;
  readonly whole: number;
}

/** The spent share of a whole, and the reserved share. */
function Share({ usd, reserved, whole }: ShareProps) {
  const part = (value: number): string => percent(whole <= 0 ? 1 : Math.min(1, value / whole));
  return (
    <svg class="share" height={4} aria-hidden="true">
      <rect class="all" width="100%" height={4} />
      <rect class="held" width={part(usd + reserved)} height={4} />
      <rect class="spent" width={part(usd)} height={4} />
    </svg>
  );
}
