import type { Sample } from "./probed.ts";

/** How much more may be there in the last third of a soak than in the first one after its warm-up; others none. */
const limits: Readonly<Record<string, number>> = { "kB of heap": 3_000, "open files": 3 };
/** Of handles and timers of a kind. */
const maxOfKind = 3;

/** What grew more than it may, for a person; empty if all is flat. */
export function leaks(samples: readonly Sample[]): readonly string[] {
  const third = Math.max(1, Math.floor(samples.length / 3));
  const [first, last] = [samples.slice(0, third), samples.slice(-third)];
  const grown = (of: (sample: Sample) => number): number =>
    median(last.map(of)) - median(first.map(of));
  const kinds = new Set(samples.flatMap(({ resources }) => Object.keys(resources)));
  const totals: readonly (readonly [name: string, grown: number])[] = [
    ["kB of heap", grown(({ heapBytes }) => heapBytes / 1000)],
    ["open files", grown(({ fds }) => fds)],
    ["watched files", grown(({ inotifyWatches }) => inotifyWatches)],
    ["processes", grown(({ children }) => children)],
  ];
  const ofKinds = [...kinds].map((kind) => {
    return [kind, grown(({ resources }) => resources[kind] ?? 0), maxOfKind] as const;
  });
  return [...totals.map(([name, by]) => [name, by, limits[name] ?? 0] as const), ...ofKinds]
    .filter(([, by, most]) => by > most)
    .map(([name, by]) => `${by} more ${name}`);
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}
