import { Command } from "commander";
import type { Replayed, ReplayResult } from "../../contracts/operator-api.ts";
import { UserError } from "../../errors.ts";
import { connect, withAgent } from "../connect.ts";
import { contextOf } from "../context.ts";
import type { Context } from "../context.ts";
import { examples } from "../examples.ts";
import { exitCodes } from "../exit-codes.ts";
import { plainLine } from "../format.ts";

interface ReplayOptions {
  readonly agent?: string;
}

/** `al replay <receiptId>` */
export function replayCommand(): Command {
  return new Command("replay")
    .description("run a stored webhook delivery again")
    .argument("<receiptId>", "the delivery's receipt, as al history names it")
    .option("-a, --agent <agent>", "only this agent, whatever its filters say")
    .addHelpText(
      "after",
      examples([
        "al replay 0198c0de-7a11-7000-8000-5ec0ffee0001",
        "al replay 0198c0de-7a11-7000-8000-5ec0ffee0001 --agent triage",
      ]),
    )
    .addHelpText(
      "after",
      exitCodes({
        0: "an agent was started or its run queued",
        1: "nothing ran; the reason is printed",
      }),
    )
    .action((receiptId: string, options: ReplayOptions, command: Command) =>
      replay(contextOf(command), receiptId, options),
    );
}

async function replay(
  context: Context,
  receiptId: string,
  { agent }: ReplayOptions,
): Promise<void> {
  const { out } = context;
  const client = await connect(context);
  const query = agent === undefined ? "" : `?${new URLSearchParams({ agent }).toString()}`;
  const asked = client.post(`/api/webhooks/${encodeURIComponent(receiptId)}/replay${query}`);
  const answer = await explained(agent === undefined ? asked : withAgent(client, agent, asked));
  const { matched, reason } = answer as ReplayResult;
  if (out.json) out.document(answer);
  else for (const one of matched) out.data(lineOf(one));
  if (matched.some(({ outcome }) => outcome === "started" || outcome === "queued")) return;
  if (!out.json && matched.length === 0) out.note(`nothing ran: ${plainLine(reason ?? "")}`);
  process.exitCode = 1;
}

function lineOf({ agent, outcome, instanceId, reason }: Replayed): string {
  const more = [instanceId, reason === undefined ? undefined : plainLine(reason)];
  return [`${agent} ${outcome}`, ...more.filter((part) => part !== undefined)].join(": ");
}

/** Says where receipt ids are found when there is none of this name. */
async function explained<T>(answer: Promise<T>): Promise<T> {
  try {
    return await answer;
  } catch (error) {
    if (!(error instanceof UserError) || error.code !== "unknown_receipt") throw error;
    const hint =
      "al history names the receipts of deliveries; al history --json also those of what succeeded";
    throw new UserError(error.code, error.message, { hint, cause: error });
  }
}
