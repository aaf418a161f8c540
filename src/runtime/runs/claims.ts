import type { RunRequest } from "../../../streams/vocabulary.ts";
import { runtimes } from "../../../streams/runtimes.ts";
import { canonicalConfig } from "../../foundation/config/canonical-config.ts";
import { scriptTexts, createSkillHashes } from "../../foundation/config/skill-files.ts";
import { createProjectGit } from "../../features/versions/project-git.ts";
import { createSessionStore } from "../../features/sessions/session-store.ts";
import { createRunVersions, maskWith } from "../../features/versions/run-versions.ts";
import type { SchedulerContext } from "../../foundation/context.ts";
import { messageOf } from "../../foundation/errors.ts";

/**
 * Records which instance claims an item, its version and the session that it continues; a run starts after the returned promise resolves. It does not
 * wait for git: an unknown commit is recorded later.
 */
export function claimsWithVersions({
  projectDir,
  env,
  store,
  project$,
  warn,
}: SchedulerContext): (request: RunRequest) => Promise<void> {
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
  const { work } = store;
  const sessions = store.tables(createSessionStore);
  return async (request) => {
    // In the turn of the tick, with the time up to which ticks were handled: a crash must not lose it.
    const isTick = request.item.trigger.kind === "cron";
    const [version] = await Promise.all([
      versionOf(request.agent),
      isTick ? work.keepTick(request.item) : null,
    ]);
    const state = git.state();
    const link = (): void => sessions.link(request, Date.now());
    if (!(state instanceof Promise)) return work.claim(request, version, state, link);
    await work.claim(request, version, null, link);
    state
      .then((later) => (later === null ? undefined : work.recordGit(request, later)))
      .catch((error: unknown) => {
        warn(`the commit that ${request.instanceId} ran is not recorded: ${messageOf(error)}`);
      });
  };
}
