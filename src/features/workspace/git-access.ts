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

function access(
  variables: GitAccess["variables"],
  dispose: () => Promise<void> = () => Promise.resolve(),
): GitAccess {
  return { variables: { ...own, ...variables }, [Symbol.asyncDispose]: dispose };
}

/** The machine's own config of git may have other logins. */
const own = { GIT_CONFIG_NOSYSTEM: "1", GIT_CONFIG_GLOBAL: "/dev/null", GIT_CONFIG_COUNT: "0" };

const sshType = "git_ssh";

/** Whether the credential is for the host. */
export function isForAddress(credential: Credential, { protocol, host }: GitAddress): boolean {
  if (protocol === "ssh") return credential.type === sshType;
  return stageCredentials([credential])[0]?.git?.url === `https://${host}`;
}

/**
 * Access to the host with this credential, null for a public repository. A key for ssh is in a file until the access is disposed.
 */
export async function gitAccess(
  credential: Credential | null,
  address: GitAddress,
): Promise<GitAccess> {
  if (credential === null) {
    if (address.protocol === "ssh") {
      const hint = `Store a key with al creds add ${sshType}, and name it in workspace.credential.`;
      throw new Problem("workspace", `git over ssh at ${address.host} needs a credential`, hint);
    }
    return access({});
  }
  if (!isForAddress(credential, address)) {
    const why = `the credential ${credential.type} is not for ${address.protocol} at ${address.host}`;
    const hint = "Name another one in workspace.credential, or set the credential's field host.";
    throw new Problem("workspace", why, hint);
  }
  const credentials = stageCredentials([credential]);
  if (address.protocol === "https")
    return access({ ...credentials[0]?.env, ...gitConfigEnv(credentials) });
  const workDir = await mkdtemp(join(tmpdir(), "al-key-"));
  const remove = () => rm(workDir, { recursive: true, force: true });
  return access(await writeCredentialFiles({ credentials, workDir }), remove);
}
