import type { AgentConfig } from "../../../streams/agent-config.ts";
import type { RunRequest } from "../../../streams/vocabulary.ts";
import type { TreeService } from "../../foundation/contracts/tree-service.ts";
import {
  githubAppType,
  parseCredentialReference,
} from "../../foundation/contracts/credential-reference.ts";
import type { GitAddress } from "../../foundation/contracts/git-names.ts";
import { credentialType } from "../../foundation/credentials/credential-types.ts";
import type { Credential } from "../../foundation/credentials/load-credential.ts";
import { tokenCredential } from "../../foundation/credentials/token-credential.ts";
import { Problem, reasonOf } from "../../foundation/errors.ts";
import { checkoutPlan } from "./checkout-plan.ts";
import { gitFolder } from "./checkout-files.ts";
import { gitAccess, isForAddress } from "./git-access.ts";
import { createMirrors } from "./mirrors.ts";

export interface WorkspaceDeps {
  readonly projectDir: string;
  readonly env: NodeJS.ProcessEnv;
  readonly credential: (reference: string) => Promise<Credential>;
  /** A token of a GitHub App for a run. */
  readonly tokenFor: (request: RunRequest, credential: Credential) => Promise<string>;
  /** Aborts at the end of the run. */
  readonly untilEnd: (instanceId: string) => AbortSignal;
}

/** Checkouts of runs, from mirrors that the scheduler keeps. */
export function createWorkspaces({
  projectDir,
  env,
  credential,
  tokenFor,
  untilEnd,
}: WorkspaceDeps) {
  const mirrors = createMirrors(projectDir);
  const credentialFor = async (request: RunRequest, address: GitAddress) => {
    const found = await schedulersCredential(request.agent, address, credential);
    return found?.type === githubAppType
      ? tokenCredential(found, await tokenFor(reading(request, address), found))
      : found;
  };
  const folderFor = async (request: RunRequest, signal: AbortSignal) => {
    const plan = checkoutPlan(request);
    if (plan === null) return null;
    const { address, maxBytes } = plan;
    await using access = await gitAccess(await credentialFor(request, address), address);
    const options = { env: { ...env, ...access.variables }, signal, maxBytes };
    return await mirrors.pack(plan, options, (pack) => gitFolder(plan, pack));
  };
  const trees: TreeService = {
    treesOf: () => [],
    mayGet: ({ request }) => request.agent.workspace != null,
    read: ({ instanceId, request }) =>
      folderFor(request, untilEnd(instanceId)).catch((error: unknown) => {
        // The run learns why: nothing of it is secret.
        throw error instanceof Problem ? new Problem("malformed", reasonOf(error)) : error;
      }),
  };
  return {
    trees,
    /** Removes what no run used since `before`, epoch ms. */
    removeUnused: (before: number) => mirrors.removeUnused(before),
  };
}

/** The request as far as a token is for the repository, and only reads. */
function reading({ agent, ...request }: RunRequest, { path }: GitAddress): RunRequest {
  const githubApp = { permissions: { contents: "read" }, repos: [path] } as const;
  return { ...request, agent: { ...agent, githubApp } };
}

/** The credential that the config names, else the agent's first one for the host; null for none. */
async function schedulersCredential(
  { workspace, credentials }: AgentConfig,
  address: GitAddress,
  credential: WorkspaceDeps["credential"],
): Promise<Credential | null> {
  if (workspace?.credential != null) return credential(workspace.credential);
  for (const reference of credentials.filter(isForGit)) {
    const stored = await credential(reference);
    const login = stored.type === githubAppType ? tokenCredential(stored, "ghs_") : stored;
    if (isForAddress(login, address)) return stored;
  }
  return null;
}

function isForGit(reference: string): boolean {
  const type = parseCredentialReference(reference)?.type ?? "";
  return credentialType(type)?.git !== undefined || type === "git_ssh";
}
