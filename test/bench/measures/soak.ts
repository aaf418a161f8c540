import { figureOf, type Figure, type Measure } from "../figure.ts";
import type { Sample } from "../soak/reading.ts";
import { runSoak } from "../soak/run-soak.ts";
import { growthOf, leaks } from "../soak/verdict.ts";

const megabyte = 1024 * 1024;

/** A few files come and go with what is open in the moment of a sample. */
const limits = { heapBytes: megabyte, fds: 2, inotifyWatches: 0, resources: 2 };

/** Memory, files and watches of a scheduler over minutes or hours of work; the process ends with 1 if they only grow. */
export const soak: Measure = {
  name: "soak",
  run: async ({ minutes }) => {
    const sampleEvery = Math.min(60, (minutes * 60) / 12);
    const onSample = (sample: Sample) => say(JSON.stringify(sample));
    const { samples, answers, edits } = await runSoak({ minutes, sampleEvery, onSample });
    say(`answers ${JSON.stringify(answers)}, ${edits} edits`);
    say(`handles that came or went: ${JSON.stringify(growthOf(samples).resources)}`);
    const problems = leaks(samples, limits);
    for (const problem of problems) say(`NOT FLAT: ${problem}`);
    if (problems.length > 0) process.exitCode = 1;
    return figures(samples, minutes);
  },
};

function figures(samples: readonly Sample[], minutes: number): readonly Figure[] {
  const growth = growthOf(samples);
  const of = (read: (sample: Sample) => number): number[] => samples.map(read);
  const mb = (bytes: number): number => bytes / megabyte;
  const [first, last] = [samples[0], samples.at(-1)];
  const wall = ((last?.seconds ?? 0) - (first?.seconds ?? 0)) * 1000;
  const cpu = (last?.cpuMs ?? 0) - (first?.cpuMs ?? 0);
  const rows: readonly [string, Figure["unit"], readonly number[], number?][] = [
    ["heap", "MB", of(({ heapBytes }) => mb(heapBytes))],
    ["heap grew", "MB", [mb(growth.heapBytes)], 1],
    ["compiled code", "MB", of(({ codeBytes }) => mb(codeBytes))],
    ["buffers", "MB", of(({ externalBytes }) => mb(externalBytes))],
    ["resident", "MB", of(({ residentBytes }) => mb(residentBytes))],
    ["open files", "", of(({ fds }) => fds)],
    ["open files grew", "", [growth.fds], limits.fds],
    ["watches", "", of(({ inotifyWatches }) => inotifyWatches)],
    ["watches grew", "", [growth.inotifyWatches], 0],
    ["event loop late, median", "ms", of(({ delayMs }) => delayMs.p50)],
    ["event loop late, p99", "ms", of(({ delayMs }) => delayMs.p99)],
    ["event loop late, longest", "ms", [Math.max(...of(({ delayMs }) => delayMs.max))]],
    ["the scheduler's own share of a core", "%", [(100 * cpu) / wall]],
  ];
  return rows.map(([row, unit, values, most]) => {
    const target = most === undefined ? null : { most };
    return figureOf(`soak of ${minutes} minutes: ${row}`, unit, values, { target });
  });
}

function say(text: string): void {
  process.stderr.write(`${text}\n`);
}
