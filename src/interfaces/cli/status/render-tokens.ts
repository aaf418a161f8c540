import type { TokenView } from "../../../features/tokens/token-report.ts";
import { localTime } from "../terminal/format.ts";
import { renderTable, titled } from "../terminal/table.ts";
import type { StatusStyle } from "./render-status.ts";

export function renderTokens(tokens: readonly TokenView[], style: StatusStyle): string {
  const { colors, now } = style;
  const time = (iso: string): string => localTime(Date.parse(iso), now);
  const rows = tokens.map(({ name, scopes, agents, lastUsedAt, expiresAt, expired }) => [
    colors.bold(name),
    scopes.join(","),
    agents?.join(",") ?? "all",
    lastUsedAt === null ? "never" : time(lastUsedAt),
    expired ? colors.red("expired") : time(expiresAt),
  ]);
  return renderTable(titled("Token", "Scopes", "Agents…", "Last used", "Expires"), rows, style);
}
