import type { UrgencyGroup } from "../../../views/agent-order.ts";

/** The classes of the groups' colours. */
export const toneOfGroup: Readonly<Record<UrgencyGroup, string>> = {
  "Needs you": "asking",
  Failing: "failing",
  Blocked: "blocked",
  Running: "running",
  OK: "good",
};

interface GroupHeadProps {
  readonly group: UrgencyGroup;
  readonly count: number;
  readonly isClosed: boolean;
  readonly toggle: () => void;
}

/** The row above a group of agents, which opens and closes it. */
export function GroupHead({ group, count, isClosed, toggle }: GroupHeadProps) {
  return (
    <tr role="row" class="group">
      <th role="rowheader" scope="rowgroup">
        <button
          type="button"
          class={toneOfGroup[group]}
          aria-expanded={isClosed ? "false" : "true"}
          onClick={toggle}
        >
          <b>{group}</b> <span class="muted">{count.toLocaleString("en")}</span>
        </button>
      </th>
    </tr>
  );
}
