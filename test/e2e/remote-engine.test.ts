import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import type { StatusSnapshot } from "../../streams/status/wire.ts";
import { copyProject, startTestScheduler } from "../helpers/scheduler.ts";

test("an agent in a container of another machine's engine has an error that says what to write", async () => {
  const project = await copyProject("examples/hello");
  onTestFinished(() => project.remove());
  const file = join(project.dir, "agents/hello/config.toml");
  const text = await readFile(file, "utf8");
  await writeFile(file, text.replace(/^type = .*\nrun_as = .*$/m, 'type = "container"'));
  const env = { DOCKER_HOST: "ssh://build-1" };
  const scheduler = await startTestScheduler(project, { env });
  onTestFinished(async () => {
    await scheduler.stop();
  });
  const error = async () => {
    const { agents } = (await (await scheduler.api("/control/status")).json()) as StatusSnapshot;
    return agents[0]?.error;
  };
  await expect
    .poll(error, { timeout: 15_000 })
    .toMatch(/DOCKER_HOST is ssh:\/\/build-1, .*engine = "docker".+under \[cluster\]/);
});
