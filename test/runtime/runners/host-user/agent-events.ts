import { NEVER } from "rxjs";
import type { HostUserOptions } from "../../../../src/runtime/runners/host-user/host-user-options.ts";
import { collected } from "../contract.ts";
import { aRequest } from "../shell-runs.ts";
import { aJob, type JobOptions } from "../../harness/jobs.ts";
import { builtAl } from "../../../helpers/scheduler.ts";
import { aRunner } from "./support.ts";

/** Runs a job with the built program to its end. */
export function agentEvents(
  baseDir: string,
  job: JobOptions,
  options: Partial<HostUserOptions> = {},
  request = aRequest("dev"),
) {
  const { instanceId } = request;
  const runner = aRunner(baseDir, {
    prepare: (_request, workDir) => Promise.resolve(aJob(workDir, { ...job, instanceId })),
    program: () => ({ file: process.execPath, args: [builtAl, "_run-agent"] }),
    ...options,
  });
  return collected(runner.run(request, NEVER));
}
