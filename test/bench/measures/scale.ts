import { loadavg } from "node:os";
import type { Figure, Measure } from "../figure.ts";
import { eventFigures } from "../scale/events.ts";
import { largeProject } from "../scale/large-project.ts";
import type { ProjectSize } from "../scale/large-project.ts";
import { requestFigures } from "../scale/requests.ts";
import { restFigures } from "../scale/rest.ts";
import { storeFigures } from "../scale/store-work.ts";
import { tickFigures } from "../scale/ticks.ts";
import { inUnit } from "../target.ts";
import { probeEnv } from "../soak/probed.ts";
import { withScheduler } from "../with-scheduler.ts";

const sizes = [
  { agents: 1_000, runs: 100_000 },
  { agents: 10_000, runs: 1_000_000 },
];
const small = [{ agents: 100, runs: 5_000 }];

/** How far one scheduler goes: start, memory, pages, deliveries, edits, ticks, backup and pruning of a large project. */
export const scale: Measure = {
  name: "scale",
  run: async ({ quick }) => {
    const figures: Figure[] = [];
    for (const size of quick ? small : sizes) {
      const measured = await measuredAt(size, quick);
      const prefix = `${size.agents.toLocaleString("en-US")} agents`;
      const alone = { floor: null, floorP99: null, target: null };
      figures.push(
        ...measured.map((one) => ({ ...one, ...alone, name: `${prefix}: ${one.name}` })),
      );
    }
    return figures;
  },
};

async function measuredAt(size: ProjectSize, quick: boolean): Promise<readonly Figure[]> {
  say(`${size.agents} agents, ${size.runs} runs: making the project`);
  const project = await largeProject(size);
  try {
    const kept = { ...project, remove: () => Promise.resolve() };
    const served = await withScheduler(
      Promise.resolve(kept),
      async (scheduler, readyMs) => [
        ...step("at rest", await restFigures(scheduler, readyMs, quick)),
        ...step("requests", await requestFigures(scheduler, { entries: size.runs, times: 40 })),
        ...step("events", await eventFigures(scheduler, { ...size, quick })),
      ],
      probeEnv,
    );
    return [
      ...served,
      ...step("store", await storeFigures(project.dir)),
      ...step("ticks", await tickFigures(size.agents)),
    ];
  } finally {
    await project.remove();
  }
}

/** Says what is done, and how busy the machine was: figures of a busy one are of processor time only. */
function step(name: string, figures: readonly Figure[]): readonly Figure[] {
  say(`${name} done; load ${loadavg()[0]?.toFixed(1) ?? "?"}`);
  // The whole takes many minutes: what is known is not lost with what fails later.
  for (const figure of figures) {
    const { unit, median, processorMs } = figure;
    const each = processorMs === undefined ? "" : `, processor ${inUnit(processorMs, "ms")}`;
    say(`  ${figure.name}: ${inUnit(median, unit)}${each}`);
  }
  return figures;
}

function say(text: string): void {
  process.stderr.write(`${text}\n`);
}
