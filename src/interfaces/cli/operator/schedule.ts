import type { Context } from "../context.ts";
import { renderSchedule } from "../status/render-schedule.ts";
import { askProject, mustKnowAgent } from "./reader.ts";

/** Prints the next runs of an agent, or the next run of each agent. */
export async function showSchedule(
  context: Context,
  agent: string | undefined,
  { days }: { readonly days?: number },
): Promise<void> {
  const { out } = context;
  const answer = await askProject(context, async (reader) => {
    if (agent === undefined)
      return { ...(await reader.perform("GET /api/schedules", {})), now: [] };
    await mustKnowAgent(reader, agent);
    return reader.perform("GET /api/agents/:name/schedule", { name: agent, days });
  });
  if (out.json) return out.document(answer);
  for (const reason of answer.now) out.note(reason);
  if (answer.next.length === 0)
    return out.note(`no scheduled runs${agent === undefined ? "" : ` of ${agent}`}`);
  out.data(renderSchedule(answer.next, { ...out, now: Date.now() }));
}
