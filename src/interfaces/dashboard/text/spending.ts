import type { SpendLimit } from "../../../features/spend/spend-report.ts";

/** Whether a limit's window is a day, such as `2026-11-22`; a month is `2026-11`. */
export function isDay({ window }: Pick<SpendLimit, "window">): boolean {
  return /^\d{4}-\d\d-\d\d$/.test(window);
}

/** A share of a drawing's width. */
export function percent(share: number): string {
  return `${(share * 100).toFixed(3)}%`;
}
