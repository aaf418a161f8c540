import type { RunRequest } from "../../../streams/vocabulary.ts";
import type { Job } from "../../foundation/contracts/job.ts";
import type { Ticket } from "../../foundation/contracts/remote-run.ts";
import { UserError } from "../../foundation/errors.ts";
import { limitsOf, runEnvironment, workDir } from "../runners/container/container-options.ts";
import { command as program } from "../runners/container/image/dockerfile.ts";
import { runName } from "./cluster-engine.ts";
import type { Launch } from "./cluster-engine.ts";
import type { ClusterRunnerOptions } from "./cluster-runner-options.ts";

/** How an engine starts a run. Its job stays here until it is claimed. */
export function launchOf(
  request: RunRequest,
  job: Job,
  image: Pick<Launch, "image" | "volumes">,
  options: ClusterRunnerOptions,
): Launch {
  const { agent, instanceId } = request;
  const { cluster, local, command } = options;
  return {
    name: runName(instanceId),
    instanceId,
    agent: agent.name,
    ...image,
    command: command?.(request) ?? [program, "_remote-run", agent.name, "--project", workDir],
    env: runEnvironment(request),
    ticket: JSON.stringify(ticketOf(instanceId, job, options)),
    limits: limitsOf(agent, local()),
    reserve: cluster().reserve,
    place: agent.runtime.place ?? cluster().place,
  };
}

function ticketOf(
  instanceId: string,
  { channel }: Job,
  { cluster, certificate }: ClusterRunnerOptions,
): Ticket {
  if (channel === null) {
    throw new UserError("no_ticket", "the scheduler made no ticket for the run", {
      hint: "try it again",
    });
  }
  return {
    door: cluster().address,
    certificate: certificate(),
    name: runName(instanceId),
    ticket: channel.token,
  };
}
