import { contextOf } from "../context.ts";
import { AlCommand } from "../help/al-command.ts";
import type { ReplayOptions } from "../operator/replay.ts";

/** `al replay <receiptId|triggerId>` */
export function replayCommand(): AlCommand {
  return new AlCommand("replay")
    .description("run a stored webhook delivery, or the work of a history entry, again")
    .argument(
      "<receiptId|triggerId>",
      "a delivery's receipt or an entry's trigger, as al history names them",
    )
    .option("-a, --agent <agent>", "only this agent, whatever its filters say; for a receipt")
    .examples(
      "al replay 0198c0de-7a11-7000-8000-5ec0ffee0001",
      "al replay 0198c0de-7a11-7000-8000-5ec0ffee0001 --agent triage",
    )
    .exitCodes({
      0: "an agent was started or its run queued",
      1: "nothing ran; the reason is printed",
    })
    .action(async (id: string, options: ReplayOptions, command: AlCommand) => {
      const { replay } = await import("../operator/replay.ts");
      await replay(contextOf(command), id, options);
    });
}
