import { closest } from "../../../foundation/contracts/did-you-mean.ts";
import { UserError } from "../../../foundation/errors.ts";
import type { Client } from "../operator/client.ts";
import { connect, readSnapshot, unknownAgent } from "../operator/connect.ts";
import { contextOf } from "../context.ts";
import type { Context } from "../context.ts";
import { AlCommand } from "../help/al-command.ts";

/** `al kill <agent|instance>` */
export function killCommand(): AlCommand {
  return new AlCommand("kill")
    .description("end the running runs of an agent, or one run")
    .argument("<agent|instance>", "an agent's name, or the instance id of one run")
    .examples("al kill triage", "al kill triage-k3v9q2xa")
    .action((target: string, _options: unknown, command: AlCommand) =>
      kill(contextOf(command), target),
    );
}

async function kill(context: Context, target: string): Promise<void> {
  const client = await connect(context);
  const names = (await readSnapshot(client)).agents.map(({ name }) => name);
  if (names.includes(target)) return killAgent(context, client, target);
  if (isInstanceOf(names, target)) return killInstance(context, client, target);
  const isRun = closest(target, names) === null && instancePattern.test(target);
  throw unknownAgent(isRun ? target.slice(0, -9) : target, names);
}

const instancePattern = /-[a-z0-9]{8}$/i;

/** An instance id is its agent's name and eight base32 characters. */
function isInstanceOf(names: readonly string[], target: string): boolean {
  return instancePattern.test(target) && names.includes(target.slice(0, -9));
}

async function killAgent({ out }: Context, client: Client, agent: string): Promise<void> {
  const answer = await client.post(`/control/agents/${encodeURIComponent(agent)}/kill`);
  if (out.json) return out.document(answer);
  const { killed } = answer as { killed: number };
  if (killed === 0) return out.data(`${agent} has no running runs`);
  const { counted } = await import("../../../foundation/contracts/format.ts");
  out.data(`${counted(killed, "run")} of ${agent} killed`);
}

async function killInstance({ out }: Context, client: Client, instanceId: string): Promise<void> {
  const answer = await client
    .post(`/control/kill/${encodeURIComponent(instanceId)}`)
    .catch((error: unknown) => {
      if (!(error instanceof UserError) || error.code !== "unknown_instance") throw error;
      throw new UserError(error.code, `no run ${instanceId} is running`, {
        hint: "al history shows how it ended",
      });
    });
  if (out.json) return out.document(answer);
  out.data(`${instanceId} killed`);
}
