import type { RunRequest } from "../../streams/vocabulary.ts";
import { runtimes } from "../../streams/runtimes.ts";
import { canonicalConfig } from "../foundation/config/canonical-config.ts";
import type { ProjectConfig } from "../foundation/config/project-config.ts";
import { scriptTexts } from "../foundation/config/script-texts.ts";
import { createSkillHashes } from "../foundation/config/skill-hashes.ts";
import type { Store } from "../foundation/store/store.ts";
import { createProjectGit } from "../features/versions/project-git.ts";
import { createRunVersions, maskWith } from "../features/versions/run-versions.ts";
import type { AgentConfig } from "../../streams/agent-config.ts";
import type { RunVersion } from "../foundation/contracts/run-version.ts";
import { messageOf } from "../foundation/errors.ts";
import type { Work } from "../foundation/store/work.ts";
import type { ProjectGit } from "../features/versions/project-git.ts";

export interface VersionDeps {
  readonly projectDir: string;
  readonly env: NodeJS.ProcessEnv;
  readonly store: Pick<Store, "work" | "settings">;
  readonly project$: { readonly value: ProjectConfig };
  readonly warn: (message: string) => void;
}

/** Claims work for runs, with the version of what they run. */
export function claimsWithVersions(deps: VersionDeps): (request: RunRequest) => Promise<void> {
  const { projectDir, env, store, project$, warn } = deps;
  const mask = maskWith(store.settings.maskKey());
  const git = createProjectGit({ projectDir, env });
  const versionOf = createRunVersions({
    files: createSkillHashes(projectDir),
    scripts: (config) => scriptTexts(config, projectDir),
    describe: (config, files) => {
      const project = project$.value;
      const container = runtimes[config.runtime.type].hasLimits ? project.local : null;
      return canonicalConfig(config, { projectDir, mask, container, project, files });
    },
    onChange: () => git.invalidate(),
  });
  return createClaims({ work: store.work, versionOf, git, warn });
}

interface ClaimDeps {
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
function createClaims(deps: ClaimDeps): (request: RunRequest) => Promise<void> {
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
