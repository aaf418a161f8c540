import { writeFile } from "node:fs/promises";
import { randomUUID } from "node:crypto";
import { join } from "node:path";
import type { Job } from "../../contracts/job.ts";
import { shortEvent } from "../short-event.ts";

type Answer = Readonly<Record<string, unknown>>;

/**
 * The answer to a wait as a prompt would tell the trigger: the whole body of a webhook is in a file, whose path is
 * `payloadFile`, as it may be long.
 */
export async function withPayloadFile(
  answer: Answer,
  { workDir }: Pick<Job, "workDir">,
): Promise<Answer> {
  const { trigger } = answer as { trigger?: Record<string, unknown> | null };
  if (trigger?.kind !== "webhook" || trigger.payload === undefined) return answer;
  const { payload, body, ...event } = trigger;
  const payloadFile = join(workDir, `webhook-payload-${randomUUID().slice(0, 8)}`);
  const text = typeof payload === "string" ? payload : JSON.stringify(payload, null, 2);
  await writeFile(payloadFile, text, { mode: 0o600 });
  const short = shortEvent({ body: typeof body === "string" ? body : null }, payloadFile);
  return { ...answer, trigger: { ...event, payloadFile, ...short } };
}
