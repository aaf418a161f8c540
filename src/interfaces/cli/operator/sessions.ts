import { bytesText, counted } from "../../../foundation/contracts/format.ts";
import type { Context } from "../context.ts";
import { localTime, plainLine } from "../terminal/format.ts";
import { renderTable, titled } from "../terminal/table.ts";
import { connect } from "./connect.ts";
import { askProject, mustKnowAgent } from "./reader.ts";

/** Prints the kept sessions of an agent. */
export async function listSessions(context: Context, name: string, key?: string): Promise<void> {
  const { out } = context;
  const found = await askProject(context, async (reader) => {
    await mustKnowAgent(reader, name);
    return reader.perform("GET /api/agents/:name/sessions", { name, key });
  });
  if (out.json) return out.document(found);
  if (found.sessions.length === 0) return out.note(`no session of ${name} is kept`);
  const rows = found.sessions.map(({ key: shown, instanceId, live, runs, until, bytes }) => [
    plainLine(shown),
    live === null ? instanceId : `${live} (live)`,
    String(runs),
    localTime(until, Date.now()),
    bytesText(bytes),
  ]);
  out.data(renderTable(titled("Key…", "Last run", "Runs", "Kept until", "Size"), rows, out));
}

/** Deletes the kept session of a key, or all of an agent. */
export async function removeSessions(context: Context, name: string, key?: string): Promise<void> {
  const client = await connect(context);
  const answer = await client.perform("POST /api/agents/:name/sessions/remove", { name, key });
  context.out.answer(answer, `removed ${counted(answer.removed, "session")} of ${name}`);
}
