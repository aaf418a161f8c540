import { existsSync } from "node:fs";
import { join } from "node:path";
import { artifactShape } from "../../../foundation/contracts/file-tree.ts";
import type { Job } from "../../../foundation/contracts/job.ts";
import { receiveFiles } from "../trees/transfer.ts";
import type { RequestAnswer, RequestBody } from "../../wire/protocol.ts";

/** The scheduler limits the bytes when it stores the files. */
const limits = { ...artifactShape, bytes: Infinity, fileBytes: Infinity };

/** Receives the files of a called agent, once, and adds their folder to the answer. Rejects with a Problem. */
export async function withReceivedFiles(
  answer: RequestAnswer<"call-files">,
  { callId, path }: RequestBody<"call-files">,
  { workDir, channel }: Pick<Job, "workDir" | "channel">,
  signal: AbortSignal,
): Promise<Readonly<Record<string, unknown>>> {
  if (answer.files.length === 0 || channel === null) return answer;
  const folder = join(workDir, "artifacts", callId);
  if (!existsSync(folder)) {
    const context = { runSocket: channel, signal };
    await receiveFiles(context, `call/${callId}`, { base: workDir, path: folder }, limits);
  }
  return { ...answer, folder, ...(path !== undefined && { file: join(folder, path) }) };
}
