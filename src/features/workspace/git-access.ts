import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { GitAddress } from "../../foundation/contracts/git-names.ts";
import { writeCredentialFiles } from "../../foundation/credentials/credential-files.ts";
import { gitConfigEnv } from "../../foundation/credentials/git-config-env.ts";
import type { Credential } from "../../foundation/credentials/load-credential.ts";
import { stageCredentials } from "../../foundation/credentials/stage-credentials.ts";
import { Problem } from "../../foundation/errors.ts";

/** Variables by which git of the scheduler authenticates at one host; no argument and no file of a repository has a secret. */
export interface GitAccess extends AsyncDisposable {
  readonly variables: Readonly<Record<string, string>>;
}

const sshType = "git_ssh";

/** Whether the credential is for the host. */
export function isForAddress(credential: Credential, { protocol, host }: GitAddress): boolean {
  if (protocol === "ssh") return credential.type === sshType;
  return stageCredentials([credential])[0]?.git?.url === `https://${host}`;
}

/**
 * Access to the host with this credential, null for a public repository. The machine's own git config is not used, as it
 * may have other logins. A key for ssh is in a file until the access is disposed.
 */
export async function gitAccess(
  credential: Credential | null,
  address: GitAddress,
): Promise<GitAccess> {
  const own = { GIT_CONFIG_NOSYSTEM: "1", GIT_CONFIG_GLOBAL: "/dev/null" };
  const nothing = async (): Promise<void> => undefined;
  if (credential === null) {
    if (address.protocol === "ssh") {
      const hint = `Store a key with al creds add ${sshType}, and name it in workspace.credential.`;
      throw new Problem("workspace", `git over ssh at ${address.host} needs a credential`, hint);
    }
    return { variables: { ...own, GIT_CONFIG_COUNT: "0" }, [Symbol.asyncDispose]: nothing };
  }
  if (!isForAddress(credential, address)) {
    const why = `the credential ${credential.type} is not for ${address.protocol} at ${address.host}`;
    const hint = "Name another one in workspace.credential, or set the credential's field host.";
    throw new Problem("workspace", why, hint);
  }
  const credentials = stageCredentials([credential]);
  const env = credentials[0]?.env ?? {};
  if (address.protocol === "https") {
    const variables = { ...own, ...env, ...gitConfigEnv(credentials) };
    return { variables, [Symbol.asyncDispose]: nothing };
  }
  const workDir = await mkdtemp(join(tmpdir(), "al-key-"));
  const remove = () => rm(workDir, { recursive: true, force: true });
  const files = await writeCredentialFiles({ credentials, workDir });
  const variables = { ...own, ...files, GIT_CONFIG_COUNT: "0" };
  return { variables, [Symbol.asyncDispose]: remove };
}
