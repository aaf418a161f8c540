import { UserError } from "../../../foundation/errors.ts";
import type { InboxView } from "../../views/run-view.ts";
import type { Context } from "../context.ts";
import { connect, explained } from "./connect.ts";

const noRun = { hint: "al history lists the runs with their instance ids" };

function runPath(instanceId: string, operation: string): string {
  return `/api/runs/${encodeURIComponent(instanceId)}/${operation}`;
}

/** Sends a message to a run while it works, or asks it to end after its turn. */
export async function steer(
  context: Context,
  instanceId: string,
  text: string | undefined,
  { stop = false }: { readonly stop?: boolean },
): Promise<void> {
  if ((text === undefined) !== stop) {
    throw new UserError("usage", "give either a text or --stop", "al help steer shows both");
  }
  const client = await connect(context);
  const body = stop ? { stop } : { text };
  const asked = client.post(runPath(instanceId, "steer"), body);
  const answer = (await explained(asked, ["unknown_instance"], noRun)) as InboxView;
  const effect = stop ? "ends after its turn" : "gets it after the tools of its turn";
  context.out.answer(answer, `${instanceId} ${effect}: al show ${instanceId}`);
}

/** Starts a run that continues the session of one that has ended, and prints its id. */
export async function continueRun(
  context: Context,
  instanceId: string,
  prompt: string,
): Promise<void> {
  const client = await connect(context);
  const asked = client.post(runPath(instanceId, "continue"), { prompt });
  const answer = (await explained(asked, ["unknown_instance"], noRun)) as {
    readonly agent: string;
    readonly triggerId: string;
    readonly instanceId: string | null;
  };
  const { out } = context;
  out.answer(answer, answer.instanceId ?? answer.triggerId);
  if (out.json) return;
  out.note(
    answer.instanceId === null
      ? `it is queued: al history -a ${answer.agent} shows how it continues`
      : `al logs ${answer.agent} -i ${answer.instanceId} -f follows it`,
  );
}
