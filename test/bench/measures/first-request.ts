import { spawn } from "node:child_process";
import { once } from "node:events";
import { appendFile, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { StatusSnapshot } from "../../../streams/status/wire.ts";
import { pause } from "../../helpers/pause.ts";
import type { TestScheduler } from "../../helpers/scheduler.ts";
import { fakeProvider, saying } from "../../runtime/harness/fake-provider.ts";
import { agentName, benchProject } from "../bench-project.ts";
import { figureOf, type Measure } from "../figure.ts";
import { plainProgram } from "../plain-program.ts";
import { repeated } from "../repeated.ts";
import { withScheduler } from "../with-scheduler.ts";

/** From a trigger until the run's model is asked; beside it, from the start of a process that has pi ask at once. */
export const firstRequest: Measure = {
  name: "first-request",
  run: async ({ repeats }) => {
    let asked = Promise.withResolvers<number>();
    const provider = await fakeProvider((...request) => {
      asked.resolve(performance.now());
      saying("done")(...request);
    });
    const times = 5 * repeats;
    /** How long it takes from the act until the model is asked; the first time fills the compile cache. */
    const delays = async (act: () => Promise<unknown>) => {
      const all = await repeated(times + 1, async () => {
        asked = Promise.withResolvers();
        const began = performance.now();
        await act();
        return (await asked.promise) - began;
      });
      return all.slice(1);
    };
    const floor = await delays(() => barePi(provider.baseUrl));
    const found = await withScheduler(projectWith(provider.baseUrl), (one) =>
      delays(() => aRun(one)),
    );
    await provider.close();
    const target = { ofFloor: 1.2 };
    return [figureOf("trigger → first model request", "ms", found, { floor, target })];
  },
};

/** Resolves when the process has ended. */
async function barePi(baseUrl: string): Promise<void> {
  const args = [plainProgram("bare-pi.ts"), baseUrl];
  const [code] = (await once(spawn(process.execPath, args, { stdio: "inherit" }), "exit")) as [
    number,
  ];
  if (code !== 0) throw new Error(`pi ended with ${code}`);
}

/** Resolves when the run is over. */
async function aRun({ api }: TestScheduler): Promise<void> {
  await api(`/control/trigger/${agentName(0)}`, { method: "POST" });
  for (;;) {
    const { scheduler } = (await (await api("/control/status")).json()) as StatusSnapshot;
    if (scheduler.running === 0) return;
    await pause(50, "the run is asked for again");
  }
}

async function projectWith(baseUrl: string) {
  const project = await benchProject();
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
