import type { RunRequest } from "../../streams/vocabulary.ts";
import type { AgentConfig } from "../../streams/agent-config.ts";
import type { RunVersion } from "../foundation/contracts/run-version.ts";
import { messageOf } from "../foundation/errors.ts";
import type { Work } from "../foundation/store/work.ts";
import type { ProjectGit } from "../features/versions/project-git.ts";

export interface ClaimDeps {
  readonly work: Pick<Work, "claim" | "recordGit">;
  /** What runs of a config run now. */
  readonly versionOf: (agent: AgentConfig) => Promise<RunVersion>;
  readonly git: Pick<ProjectGit, "state">;
  readonly warn: (message: string) => void;
}

/**
 * Records which instance runs an item and what it runs; a run starts after it resolves. It does not wait for git: a
 * commit that is not known yet is recorded later.
 */
export function createClaims(deps: ClaimDeps): (request: RunRequest) => Promise<void> {
  const { work, versionOf, git, warn } = deps;
  return async (request) => {
    const version = await versionOf(request.agent);
    const state = git.state();
    if (!(state instanceof Promise)) return work.claim(request, version, state);
    await work.claim(request, version);
    state
      .then((later) => (later === null ? undefined : work.recordGit(request, later)))
      .catch((error: unknown) => {
        warn(`the commit that ${request.instanceId} ran is not recorded: ${messageOf(error)}`);
      });
  };
}
