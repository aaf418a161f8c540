import { counted } from "../../../foundation/contracts/format.ts";
import { scopes, type Scope } from "../../../foundation/contracts/scopes.ts";
import type { TokenView } from "../../../features/tokens/token-report.ts";
import { usageError } from "../../../foundation/errors.ts";
import type { Context } from "../context.ts";
import { connect } from "./connect.ts";
import { localTime } from "../terminal/format.ts";
import { renderTable, titled } from "../terminal/table.ts";
import type { StatusStyle } from "../status/render-status.ts";

interface NewOptions {
  readonly scope: string;
  readonly agents?: string;
  readonly days: number;
}

/** Creates an API token and prints it: standard output has the secret and nothing else. */
export async function newToken(context: Context, name: string, given: NewOptions): Promise<void> {
  const { out } = context;
  const asked = listOf(given.scope);
  const isScope = (scope: string): scope is Scope => scopes.some((known) => known === scope);
  const wrong = asked.filter((scope) => !isScope(scope));
  if (asked.length === 0 || wrong.length > 0) {
    const problem =
      asked.length === 0 ? "--scope is empty" : `there is no scope ${wrong.join(", ")}`;
    throw usageError(problem, `Choose from ${scopes.join(", ")}.`);
  }
  const client = await connect(context);
  const agents = given.agents === undefined ? null : listOf(given.agents);
  const body = { name, scopes: asked.filter(isScope), agents, days: given.days };
  const created = await client.perform("POST /api/tokens", body);
  if (out.json) return out.document(created);
  out.data(created.token);
  const whose = created.agents === null ? "all agents" : created.agents.join(", ");
  out.note(`${created.scopes.join(", ")} of ${whose}, for ${counted(given.days, "day")}`);
  out.note("it is not stored and not shown again: send it as Authorization: Bearer <token>");
}

/** Prints the API tokens, without their secrets. */
export async function listTokens(context: Context): Promise<void> {
  const { out } = context;
  const report = await (await connect(context)).perform("GET /api/tokens", {});
  if (out.json) return out.document(report);
  if (report.tokens.length === 0)
    return out.note("there are no API tokens; al token new creates one");
  out.data(renderTokens(report.tokens, { ...out, now: Date.now() }));
}

/** Removes an API token: requests and streams with it end at once. */
export async function removeToken(context: Context, name: string): Promise<void> {
  const client = await connect(context);
  const removed = await client.perform("POST /api/tokens/:name/remove", { name });
  context.out.answer(removed, `removed the API token ${name}`);
}

function listOf(text: string): string[] {
  return text
    .split(",")
    .map((part) => part.trim())
    .filter((part) => part !== "");
}

export function renderTokens(tokens: readonly TokenView[], style: StatusStyle): string {
  const { colors, now } = style;
  const time = (at: string): string => localTime(at, now);
  const rows = tokens.map(({ name, scopes, agents, lastUsedAt, expiresAt, expired }) => [
    colors.bold(name),
    scopes.join(","),
    agents?.join(",") ?? "all",
    lastUsedAt === null ? "never" : time(lastUsedAt),
    expired ? colors.red("expired") : time(expiresAt),
  ]);
  return renderTable(titled("Token", "Scopes", "Agents…", "Last used", "Expires"), rows, style);
}
