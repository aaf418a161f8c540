import type { ComponentChildren } from "preact";
import type { SpendLimit, SpendRowView } from "../../../../features/spend/spend-report.ts";
import { dollars, doubtText, scopeName } from "../../../../features/spend/spend-text.ts";
import { counted } from "../../../../foundation/contracts/format.ts";
import { plainText } from "../../../../foundation/contracts/plain-text.ts";
import { List } from "../../kit/list.tsx";
import type { Column } from "../../kit/table.tsx";
import { agentAddress } from "../../text/addresses.ts";
import { compactCount, percent } from "../../text/format.ts";

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
        {dollars(usd)}
        <Share usd={usd} reserved={0} whole={most} />
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

const limitColumns: readonly Column<SpendLimit>[] = [
  ["Of", ({ scope }) => plainText(scopeName(scope)), "cost-name"],
  ["In", ({ window }) => window, "number"],
  [
    "Spent",
    ({ usd, reserved, limit }) => (
      <>
        {dollars(usd)}
        <Share usd={usd} reserved={reserved} whole={limit ?? 0} />
        <div class="sub">{reserved === 0 ? "" : `${dollars(reserved)} reserved`}</div>
      </>
    ),
    "number",
  ],
  ["Limit", ({ limit }) => dollars(limit ?? 0), "number"],
];

/** The limits, and the spent part of each. */
export function Limits({ limits }: { readonly limits: readonly SpendLimit[] }) {
  return (
    <List
      id="limits"
      title="Limits"
      look="cost-part wide"
      columns={limitColumns}
      {...firstOf(limits, "limit")}
      keyOf={({ scope, window }) => `${scope} ${window}`}
      none={
        <>
          No limit is set. <code>[budget]</code> in a <code>config.toml</code> sets one.
        </>
      }
    />
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
