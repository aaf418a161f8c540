import { NEVER } from "rxjs";
import { createContainerRunner } from "../../../../src/runtime/runners/container/container-runner.ts";
import type { Engine } from "../../../../src/runtime/runners/container/engine.ts";
import type { AgentImages } from "../../../../src/runtime/runners/container/images.ts";
import { collected } from "../contract.ts";
import { aRequest } from "../shell-runs.ts";
import { aJob, type JobOptions } from "../../harness/jobs.ts";
import { hostDir } from "../../harness/model-host.ts";
import type { SocketOfRun } from "../../run-api/support.ts";
import { defaultTestImage, engineSetupMs } from "../../../helpers/docker.ts";
import { perFile } from "../../../helpers/per-test.ts";
import { usualOptions } from "./support.ts";

/** The image of the built program, once for the tests of a `describe`. */
export const programImages = (engine: Engine) =>
  perFile(() => defaultTestImage(engine), undefined, engineSetupMs);

/** Runs a job with the built program to its end; its socket is that of the tests' host, or of `channel`. */
export function agentEvents(
  engine: Engine,
  images: AgentImages,
  job: JobOptions,
  { network = "none", channel }: { readonly network?: string; readonly channel?: SocketOfRun } = {},
) {
  const request = { ...aRequest("dev"), ...(job.instanceId && { instanceId: job.instanceId }) };
  const { instanceId } = request;
  const runner = createContainerRunner({
    ...usualOptions(engine),
    images,
    local: () => ({ memory: "512m", cpus: 2, network }),
    prepare: (_request, workDir) => {
      const made = aJob(workDir, { ...job, instanceId });
      const socket = `/run/al/${channel === undefined ? "run" : "channel"}.sock`;
      const token = channel?.token ?? made.channel?.token ?? "";
      return Promise.resolve({ ...made, channel: { socket, token } });
    },
    controlDir: () => channel?.dir ?? hostDir,
    graceMs: 5000,
  });
  return collected(runner.run(request, NEVER));
}
