import type { JobCredential } from "../contracts/job.ts";

/**
 * Variables by which git authenticates at the hosts of its credentials. They hold no secret: a
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
