import { counted } from "../../../foundation/contracts/format.ts";
import { Problem, usageError } from "../../../foundation/errors.ts";
import type { Context } from "../context.ts";
import type { Client } from "./client.ts";
import { agentNames, connect, explained } from "./connect.ts";

const noRun = { hint: "List the runs and their IDs with `al history`." };

/** How many of an agent's runs an error names. */
const namedRuns = 5;

/** The run of that name, or the agent's only run that runs or has ended. Throws a Problem that lists several. */
async function runOf(client: Client, name: string, state: "running" | "ended"): Promise<string> {
  if (!(await agentNames(client)).includes(name)) return name;
  const { triggers } = await client.perform("GET /api/stats/triggers", { agent: name, limit: 200 });
  const fitting = triggers.filter(({ outcome }) => (outcome === null) === (state === "running"));
  const ids = fitting.flatMap(({ instanceId }) => instanceId ?? []);
  const [only] = ids;
  if (only === undefined) {
    throw new Problem("unknown_instance", `agent ${name} has no ${state} run`, noRun);
  }
  if (ids.length === 1) return only;
  throw usageError(
    `agent ${name} has ${counted(ids.length, `${state} run`)}`,
    `Name one: ${ids.slice(0, namedRuns).join(", ")}${ids.length > namedRuns ? ", …" : ""}`,
  );
}

/** Sends a message to a run while it works, or asks it to end after its turn. */
export async function steer(
  context: Context,
  run: string,
  text: string | undefined,
  { stop = false }: { readonly stop?: boolean },
): Promise<void> {
  if ((text === undefined) !== stop) {
    throw usageError("give either a message or --stop", "Run `al steer --help` to see both.");
  }
  const client = await connect(context);
  const message = text === undefined ? { stop: true as const } : { text };
  const instanceId = await runOf(client, run, "running");
  const asked = client.perform("POST /api/runs/:instanceId/steer", { instanceId, ...message });
  const answer = await explained(asked, ["unknown_instance"], noRun);
  const effect = stop ? "ends after its turn" : "gets it after the tools of its turn";
  context.out.answer(answer, `${instanceId} ${effect}: al show ${instanceId}`);
}

/** Starts a run that continues the session of one that has ended, and prints its id. */
export async function continueRun(context: Context, run: string, prompt: string): Promise<void> {
  const client = await connect(context);
  const instanceId = await runOf(client, run, "ended");
  const asked = client.perform("POST /api/runs/:instanceId/continue", { instanceId, prompt });
  const answer = await explained(asked, ["unknown_instance"], noRun);
  const { out } = context;
  out.answer(answer, answer.instanceId ?? answer.triggerId);
  if (out.json) return;
  out.note(
    answer.instanceId === null
      ? `Queued. Track it with \`al history -a ${answer.agent}\`.`
      : `Follow it with \`al logs ${answer.agent} -i ${answer.instanceId} -f\`.`,
  );
}
