import { urgencyGroups, type UrgencyGroup } from "../../../views/agent-order.ts";

/** The browser keeps the names of the closed groups in a cookie, so that the server renders the page without them. */
const cookieName = "almanac_closed_groups";

/** The closed groups in the cookies of a request or a browser. */
export function closedGroups(cookies: string): readonly UrgencyGroup[] {
  const [, names = ""] = new RegExp(`(?:^|; )${cookieName}=([a-z-]*)`).exec(cookies) ?? [];
  const closed = names.split("-");
  return urgencyGroups.filter((group) => closed.includes(keyOf(group)));
}

/** The cookie that keeps the closed groups for a year. */
export function closedGroupsCookie(closed: readonly UrgencyGroup[], path: string): string {
  return `${cookieName}=${closed.map(keyOf).join("-")}; path=${path}; max-age=31536000; samesite=strict`;
}

function keyOf(group: UrgencyGroup): string {
  return group.toLowerCase().replace(" ", "");
}
