import type { AgentStatus } from "../../../../../streams/status/wire.ts";

/** The groups of rows, in the order in which a person acts on them. */
export const rowGroups = ["Needs you", "Failing", "Blocked", "Running", "OK"] as const;
export type RowGroup = (typeof rowGroups)[number];

const groupOfState: Readonly<Record<AgentStatus["state"], RowGroup>> = {
  error: "Failing",
  blocked: "Blocked",
  waiting: "Blocked",
  running: "Running",
  building: "Running",
  idle: "OK",
};

/** The group that an agent belongs in now. */
export function rowGroupOf({ state, blockedBy }: AgentStatus): RowGroup {
  return blockedBy === "person" ? "Needs you" : groupOfState[state];
}

/** The classes of the groups' colours. */
export const toneOfGroup: Readonly<Record<RowGroup, string>> = {
  "Needs you": "asking",
  Failing: "failing",
  Blocked: "blocked",
  Running: "running",
  OK: "good",
};

/** The browser keeps the names of the closed groups in a cookie, so that the server renders the page without them. */
const cookieName = "almanac_closed_groups";

/** The closed groups in the cookies of a request or a browser. */
export function closedGroups(cookies: string): readonly RowGroup[] {
  const [, names = ""] = new RegExp(`(?:^|; )${cookieName}=([a-z-]*)`).exec(cookies) ?? [];
  const closed = names.split("-");
  return rowGroups.filter((group) => closed.includes(keyOf(group)));
}

/** The cookie that keeps the closed groups for a year. */
export function closedGroupsCookie(closed: readonly RowGroup[], path: string): string {
  return `${cookieName}=${closed.map(keyOf).join("-")}; path=${path}; max-age=31536000; samesite=strict`;
}

function keyOf(group: RowGroup): string {
  return group.toLowerCase().replace(" ", "");
}
