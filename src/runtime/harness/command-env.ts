import { join } from "node:path";
import { gitConfigEnv } from "../../foundation/credentials/git-config-env.ts";
import { isoTime } from "../../../streams/iso-times.ts";
import type { Job } from "../../foundation/contracts/job.ts";

/** Variables that commands inherit from the run's own environment; all others are dropped. */
const passedOn = [
  "PATH",
  "HOME",
  "USER",
  "LOGNAME",
  "SHELL",
  "LANG",
  "LC_ALL",
  "TZ",
  "TMPDIR",
] as const;

/** Variables and files that the run prepared for its commands. */
interface CommandSources {
  /** Variables of proxies and certificates. */
  readonly network: Readonly<Record<string, string>>;
  /** Absolute path of the webhook's body; null if no webhook triggered the run. */
  readonly payloadFile: string | null;
  /** Absolute path of all gathered deliveries; null if the run does not get them. */
  readonly deliveriesFile: string | null;
  /** Variables that name the files of credentials. */
  readonly files: Readonly<Record<string, string>>;
  /** Folder of the agent's own commands and the path of the run's socket; null if the commands don't work. */
  readonly commands: { readonly binDir: string; readonly path: string } | null;
}

const defaultPath = "/usr/local/bin:/usr/bin:/bin";

/**
 * The whole environment of the agent's commands and hooks: inherited variables, proxies, the agent's config,
 * credentials (the first that sets a variable wins), `AL_AGENT`, `AL_INSTANCE`, `TRACEPARENT` with `[telemetry]`, for a
 * scheduled run `AL_SCHEDULED_AT`, with a checkout `AL_WORKSPACE`, for a webhook `AL_PAYLOAD_FILE` and, for gathered ones, `AL_DELIVERIES_FILE`.
 * The agent's commands come first on PATH and find the run by `AL_RUN_SOCKET`. The run's token is not included.
 */
export function commandEnv(
  job: Job,
  env: NodeJS.ProcessEnv,
  { network, payloadFile, deliveriesFile, files, commands }: CommandSources,
): Readonly<Record<string, string>> {
  const own = passedOn.flatMap((name): [string, string][] => {
    const value = env[name];
    return value === undefined ? [] : [[name, value]];
  });
  const credentials = job.credentials.toReversed().flatMap((entry) => Object.entries(entry.env));
  const given: Record<string, string> = {
    ...Object.fromEntries(own),
    ...network,
    ...job.env,
    ...Object.fromEntries(credentials),
    ...gitConfigEnv(job.credentials),
    ...files,
  };
  const { PATH = defaultPath } = given;
  return {
    ...given,
    ...(commands && { PATH: `${commands.binDir}:${PATH}`, AL_RUN_SOCKET: commands.path }),
    // Last, so that nothing overrides them: the runner finds stray processes of a run by AL_INSTANCE.
    AL_AGENT: job.agent,
    AL_INSTANCE: job.instanceId,
    ...(job.traceparent === undefined ? {} : { TRACEPARENT: job.traceparent }),
    ...(job.trigger.kind === "cron" && { AL_SCHEDULED_AT: isoTime(job.trigger.scheduledFor) }),
    ...(job.workspace && { AL_WORKSPACE: join(job.workDir, job.workspace.dir) }),
    ...(payloadFile === null ? {} : { AL_PAYLOAD_FILE: payloadFile }),
    ...(deliveriesFile === null ? {} : { AL_DELIVERIES_FILE: deliveriesFile }),
  };
}
