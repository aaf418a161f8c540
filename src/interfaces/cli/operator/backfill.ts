import { counted } from "../../../foundation/contracts/format.ts";
import { usageError } from "../../../foundation/errors.ts";
import type { Context } from "../context.ts";
import { queryTime } from "../options.ts";
import { localTime, plainLine } from "../terminal/format.ts";
import { connect, withAgent } from "./connect.ts";

interface BackfillOptions {
  /** Times are epoch ms. */
  readonly since?: number;
  readonly until?: number;
  readonly at?: number;
  readonly schedule?: string;
  readonly dryRun?: true;
}

/** Starts missed runs of an agent's schedules one after another, and prints when they were due. */
export async function backfill(
  context: Context,
  agent: string,
  { since, until, at, schedule, dryRun }: BackfillOptions,
): Promise<void> {
  const { out } = context;
  if ((at === undefined) === (since === undefined) || (at !== undefined && until !== undefined)) {
    throw usageError("give --since, with or without --until, or --at", example);
  }
  const client = await connect(context);
  const [from = "", to] =
    at === undefined ? [since, until].map(queryTime) : [at, at].map(queryTime);
  const input = { name: agent, since: from, until: to, schedule, dryRun };
  const asked = client.perform("POST /api/agents/:name/backfill", input);
  const answer = await withAgent(client, agent, asked);
  if (out.json) return out.document(answer);
  const { slots } = answer;
  const now = Date.now();
  for (const slot of slots) {
    const why = slot.reason === null ? "" : plainLine(slot.reason);
    const parts = [slot.at, localTime(slot.at, now), slot.schedule, why];
    out.data(parts.filter((part) => part !== "").join("  "));
  }
  const runs = counted(slots.length, "run");
  if (slots.length === 0) return out.note(`no run of ${agent} was missed then`);
  if (dryRun) return out.note(`${runs} would start, one after another`);
  out.note(
    `${runs} of ${agent} will start, one after another; stop them with \`al kill ${agent}\``,
  );
}

const example = "For example `al backfill triage --since 1d --dry-run`.";
