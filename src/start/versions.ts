import type { RunRequest } from "../../streams/vocabulary.ts";
import { runtimes } from "../../streams/runtimes.ts";
import { canonicalConfig } from "../foundation/config/canonical-config.ts";
import type { ProjectConfig } from "../foundation/config/project-config.ts";
import { scriptTexts } from "../foundation/config/script-texts.ts";
import { createSkillHashes } from "../foundation/config/skill-hashes.ts";
import type { Store } from "../foundation/store/store.ts";
import { createProjectGit } from "../features/versions/project-git.ts";
import { createRunVersions, maskWith } from "../features/versions/run-versions.ts";
import { createClaims } from "./claim-work.ts";

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
