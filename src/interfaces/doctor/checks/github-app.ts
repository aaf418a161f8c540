import type { AgentConfig } from "../../../../streams/agent-config.ts";
import { appJwt, askGithub, githubAppOf } from "../../../features/github-app/app-api.ts";
import { installationOf, lackingPermissions } from "../../../features/github-app/mint-token.ts";
import {
  githubAppType,
  parseCredentialReference,
} from "../../../foundation/contracts/credential-reference.ts";
import { loadCredential } from "../../../foundation/credentials/load-credential.ts";
import { hasCode } from "../../../foundation/errors.ts";
import { enabledAgents } from "../doctor-context.ts";
import { finding, ofError, ok, type Check, type Finding } from "../finding.ts";

/** Whether GitHub knows the apps of agents, and each has what its agent lists. */
export const githubApp: Check = async ({ home, ...context }) => {
  const found = await Promise.all(
    enabledAgents({ home, ...context }).flatMap((agent) =>
      agent.credentials
        .filter((name) => parseCredentialReference(name)?.type === githubAppType)
        .map((name) => inspect(agent, name, home)),
    ),
  );
  return found.flat();
};

async function inspect(
  { name: agent, githubApp: scope }: AgentConfig,
  name: string,
  home: string,
): Promise<readonly Finding[]> {
  const where = `agents/${agent}/config.toml [githubApp]`;
  try {
    const app = githubAppOf(await loadCredential(home, name));
    const token = appJwt(app, Date.now());
    const { permissions = {}, repos = [] } = scope ?? {};
    // Without a list, the repository is known with the trigger.
    const places = await Promise.all(
      repos.length === 0
        ? [askGithub(app, { path: "/app", token })]
        : repos.map((repo) => installationOf(app, repo, token)),
    );
    const granted = places.map((place) => place.permissions);
    const lacking = new Set(granted.flatMap((one) => lackingPermissions(permissions, one)));
    if (lacking.size === 0) return [ok(`the GitHub App ${app.id} has what ${agent} lists`)];
    const what = `the GitHub App ${app.id} lacks ${[...lacking].join(", ")}`;
    const fix = "grant it on the app's page and accept it on the installation's page";
    return [finding("error", what, where, fix)];
  } catch (error) {
    // The check of credentials reports it.
    if (hasCode(error, "missing_credential", "unsafe_credential")) return [];
    return [ofError(error, "error", where)];
  }
}
