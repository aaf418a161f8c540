import { rm } from "node:fs/promises";
import type { Engine } from "../../src/runtime/runners/container/engine.ts";
import { projectId, projectLabel } from "../../src/runtime/runners/container/labels.ts";
import { removeContainer } from "../../src/runtime/runners/container/stop-container.ts";
import { testBase } from "./docker.ts";
import { LiveProject } from "./live-project.ts";
import { copyProject } from "./scheduler.ts";
import { pause } from "./pause.ts";

/**
 * A copy of an example, examples/container when none is named, that needs no registry. `remove` also takes its
 * containers and images away.
 */
export async function containerProject(
  engine: Engine,
  example = "examples/container",
): Promise<LiveProject> {
  const files = await copyProject(example);
  const remove = () => removeAll(engine, files.dir).then(() => files.remove());
  const project = new LiveProject({ ...files, remove });
  await project.edit("config.toml", /^# base = .*$/m, `base = "${testBase}"`);
  return project;
}

/** Only the agent `boxed`, without a Dockerfile: it says "before", sleeps, and says "after". */
export async function sleepingProject(
  engine: Engine,
  { sleepSeconds, timeoutSeconds = 60 }: { sleepSeconds: number; timeoutSeconds?: number },
): Promise<LiveProject> {
  const project = await containerProject(engine);
  await rm(project.path("agents/beside"), { recursive: true });
  await rm(project.path("agents/boxed/Dockerfile"));
  const tool = `name = "bash"\narguments = { command = "sleep ${sleepSeconds}" }`;
  await project.write(
    "boxed.script.toml",
    `[[turns]]\ntext = "before"\n[[turns.tools]]\n${tool}\n\n[[turns]]\ntext = "after"\n`,
  );
  await project.write(
    "agents/boxed/config.toml",
    `models = ["boxed"]\ncredentials = []\nschedule = "0 0 29 2 *"\ntimeout = ${timeoutSeconds}\n`,
  );
  return project;
}

/** Ids of the containers that carry the project's label, and are in one of these states if some are named. */
export async function containersOfProject(
  engine: Engine,
  projectDir: string,
  status: readonly string[] = [],
): Promise<string[]> {
  const label = [`${projectLabel}=${projectId(projectDir)}`];
  const filters = { label, ...(status.length > 0 && { status: [...status] }) };
  const containers = await engine.calls().listContainers({ all: true, filters });
  return containers.map(({ Id }) => Id);
}

/** Notes what the engine shows of the project's containers, and has of their output, until it is stopped. */
export function watchContainers(
  engine: Engine,
  projectDir: string,
): { readonly seen: ReadonlyMap<string, string>; readonly stop: () => Promise<void> } {
  const seen = new Map<string, string>();
  let on = true;
  const look = async () => {
    while (on) {
      for (const id of await containersOfProject(engine, projectDir)) {
        const container = engine.calls().getContainer(id);
        const [facts, said] = await Promise.all([
          container.inspect(),
          container.logs({ stdout: true, stderr: true }),
        ]).catch(() => [null, ""] as const);
        if (facts !== null) seen.set(id, JSON.stringify(facts) + said.toString());
      }
      await pause(50, "containers are looked at all the time");
    }
  };
  const looking = look();
  return { seen, stop: () => ((on = false), looking) };
}

/** Takes the project's containers and images from the engine. */
export async function removeAll(engine: Engine, projectDir: string): Promise<void> {
  // The engine may still be removing the container of a run that ended.
  for (const id of await containersOfProject(engine, projectDir)) await removeContainer(engine, id);
  const filters = { label: [`${projectLabel}=${projectId(projectDir)}`] };
  for (const { Id } of await engine.calls().listImages({ filters })) {
    await engine.calls().getImage(Id).remove({ force: true });
  }
}
