import type { DeliveryState } from "../../../features/alerts/rules/alert.ts";
import type {
  AlertsReport,
  AlertsRetried,
  AlertTested,
} from "../../../features/alerts/alerts-report.ts";
import { counted } from "../../../foundation/contracts/format.ts";
import { UserError } from "../../../foundation/errors.ts";
import type { Context } from "../context.ts";
import { plainLine } from "../terminal/format.ts";
import { connect, explained } from "./connect.ts";
import { renderAlerts } from "../status/render-alerts.ts";

export interface ListOptions {
  readonly state?: DeliveryState;
  readonly target?: string;
  readonly lines: number;
}

/** A target times out after 15 s; then the answer is still to come. */
const testTimeoutMs = 30_000;

/** Prints the open alerts, the targets, and the newest deliveries; with a filter only the deliveries. */
export async function listAlerts(context: Context, options: ListOptions): Promise<void> {
  const { out } = context;
  const { state, target, lines } = options;
  const client = await connect(context);
  const query = new URLSearchParams({ limit: String(lines) });
  if (state !== undefined) query.set("state", state);
  if (target !== undefined) query.set("target", target);
  const report = (await client.get(`/api/alerts?${query.toString()}`)) as AlertsReport;
  if (out.json) return out.document(report);
  const isFiltered = state !== undefined || target !== undefined;
  const style = { ...out, now: Date.now() };
  const text = renderAlerts(isFiltered ? { ...report, open: [], targets: [] } : report, style);
  if (text !== "") out.data(text);
  for (const note of isFiltered ? filteredNotes(report) : notes(report)) out.note(note);
}

function filteredNotes({ deliveries }: AlertsReport): readonly string[] {
  return deliveries.length === 0 ? ["no alert meets these filters"] : [];
}

function notes({ open, targets, deliveries }: AlertsReport): readonly string[] {
  const noTarget = "alerts have no target yet; [alerts.<name>] in config.toml makes one";
  return [
    ...(open.length === 0 ? ["nothing is wrong now"] : []),
    ...(targets.length === 0 ? [noTarget] : []),
    ...(targets.length > 0 && deliveries.length === 0 ? ["no alert was sent yet"] : []),
  ];
}

/** Sends a test to a target, and prints whether it accepted. */
export async function testTarget(context: Context, target: string): Promise<void> {
  const { out } = context;
  const client = await connect(context);
  const path = `/api/alerts/targets/${encodeURIComponent(target)}/test`;
  const answer = (await client.post(path, {}, testTimeoutMs)) as AlertTested;
  if (!answer.accepted) process.exitCode = 1;
  if (out.json) return out.document(answer);
  if (answer.accepted) return out.data(`${target} accepted the test`);
  out.note(`${target} did not accept the test: ${plainLine(answer.error ?? "")}`);
}

/** Sends one delivery again, or all dead ones. */
export async function retryAlerts(
  context: Context,
  id: string | undefined,
  { all }: { readonly all?: true },
): Promise<void> {
  const { out } = context;
  const hint = "al alerts list --state dead names those that were given up";
  if ((id === undefined) === (all === undefined)) {
    throw new UserError("usage", "expected the id of an alert, or --all", hint);
  }
  const client = await connect(context);
  if (id !== undefined) {
    const asked = client.post(`/api/alerts/${encodeURIComponent(id)}/retry`);
    return out.answer(await explained(asked, ["unknown_delivery"], { hint }), `${id} is due now`);
  }
  const answer = (await client.post("/api/alerts/retry")) as AlertsRetried;
  if (answer.retried === 0 && !out.json) return out.note("no alert was given up");
  out.answer(answer, `${counted(answer.retried, "alert")} due now`);
}
