import { isoTime } from "../../../streams/iso-times.ts";
import type { Job, JobCredential } from "../../foundation/contracts/job.ts";

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
  /** Variables that name the files of credentials. */
  readonly files: Readonly<Record<string, string>>;
  /** Folder of the agent's own commands and the path of the run's socket; null if the commands don't work. */
  readonly commands: { readonly binDir: string; readonly path: string } | null;
}

const defaultPath = "/usr/local/bin:/usr/bin:/bin";

/**
 * The whole environment of the agent's commands and hooks: inherited variables, proxies, the agent's config,
 * credentials (the first that sets a variable wins), `AL_AGENT`, `AL_INSTANCE`, `TRACEPARENT` with `[telemetry]`, for a
 * scheduled run `AL_SCHEDULED_AT` and for a webhook `AL_PAYLOAD_FILE`.
 * The agent's commands come first on PATH and find the run by `AL_RUN_SOCKET`. The run's token is not included.
 */
export function commandEnv(
  job: Job,
  env: NodeJS.ProcessEnv,
  { network, payloadFile, files, commands }: CommandSources,
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
    ...(payloadFile === null ? {} : { AL_PAYLOAD_FILE: payloadFile }),
  };
}

/**
 * Variables by which git in the run's commands authenticates at the hosts of its credentials. They hold no secret: a
 * helper, in the shell that git starts for it, reads the token from the environment, so it is in no argument and in no
 * repository's config. Of two credentials for one host the first counts. (git-config(1), `GIT_CONFIG_COUNT`, from git
 * 2.31; gitcredentials(7), custom helpers.)
 */
export function gitConfigEnv(credentials: readonly JobCredential[]): Record<string, string> {
  const logins = new Map<string, GitLogin>();
  for (const { git } of credentials) if (git && !logins.has(git.url)) logins.set(git.url, git);
  const settings = [...logins.values()].flatMap(settingsOf);
  if (settings.length === 0) return {};
  return Object.fromEntries([
    ["GIT_CONFIG_COUNT", String(settings.length)],
    ...settings.flatMap(([key, value], index) => [
      [`GIT_CONFIG_KEY_${index}`, key],
      [`GIT_CONFIG_VALUE_${index}`, value],
    ]),
  ]) as Record<string, string>;
}

type GitLogin = NonNullable<JobCredential["git"]>;
type Setting = readonly [key: string, value: string];

function settingsOf({ url, username, variable }: GitLogin): Setting[] {
  const key = `credential.${url}.helper`;
  const answer = `printf 'username=%s\\npassword=%s\\n' ${username} "$${variable}"`;
  return [
    // Disables the machine's own helpers, which would otherwise store the credential.
    [key, ""],
    [key, `!f() { if [ "$1" = get ]; then ${answer}; fi; }; f`],
  ];
}
