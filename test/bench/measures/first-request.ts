import { spawn } from "node:child_process";
import { once } from "node:events";
import { appendFile, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { TestProject } from "../../helpers/scheduler.ts";
import { agentName, benchProject } from "../bench-project.ts";
import { figureOf, type Measure } from "../figure.ts";
import { startModelEndpoint, type ModelEndpoint } from "../model-endpoint.ts";
import { plainProgram } from "../plain-program.ts";
import { withScheduler } from "../with-scheduler.ts";

/** From a trigger until the run's model is asked; beside it, from the start of a process that has pi ask at once. */
export const firstRequest: Measure = {
  name: "first-request",
  run: async ({ repeats, quick }) => {
    const model = await startModelEndpoint();
    const times = quick ? 2 : 5 * repeats;
    try {
      const floors = await repeated(times, () => barePi(model));
      const found = await delays(model, times);
      const target = { ofFloor: 1.2 };
      return [figureOf("trigger → first model request", "ms", found, { floor: floors, target })];
    } finally {
      model.close();
    }
  },
};

function delays(model: ModelEndpoint, times: number): Promise<number[]> {
  return withScheduler(projectWith(model), ({ api }) =>
    repeated(times, async () => {
      const began = performance.now();
      const asked = model.nextRequest();
      await api(`/control/trigger/${agentName(0)}`, { method: "POST" });
      const delay = (await asked) - began;
      await idle(api);
      return delay;
    }),
  );
}

async function repeated(times: number, measure: () => Promise<number>): Promise<number[]> {
  const values: number[] = [];
  // The first fills the compile cache.
  for (let n = 0; n <= times; n++) values.push(await measure());
  return values.slice(1);
}

async function barePi(model: ModelEndpoint): Promise<number> {
  const asked = model.nextRequest();
  const began = performance.now();
  const child = spawn(process.execPath, [plainProgram("bare-pi.ts"), model.baseUrl], {
    stdio: "inherit",
  });
  const ended = once(child, "exit");
  const at = await Promise.race([asked, ended.then(() => Number.NaN)]);
  await ended;
  return at - began;
}

async function projectWith({ baseUrl }: ModelEndpoint): Promise<TestProject> {
  const project = await benchProject({ count: 1, config: () => 'schedule = "0 3 1 1 *"' });
  const agent = join(project.dir, "agents", agentName(0), "config.toml");
  const config = await readFile(agent, "utf8");
  await writeFile(agent, config.replace('["scripted"]', '["bench"]'));
  await appendFile(
    join(project.dir, "config.toml"),
    `[models.bench]
provider = "custom"
model = "bench"
baseUrl = "${baseUrl}"
authType = "none"
`,
  );
  return project;
}

async function idle(api: (path: string) => Promise<Response>): Promise<void> {
  for (;;) {
    const status = (await (await api("/control/status")).json()) as {
      scheduler: { running: number };
    };
    if (status.scheduler.running === 0) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
