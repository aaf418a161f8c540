import type { Sample } from "./reading.ts";

/** What may change between the first and the last third of a soak after its warm-up. */
export interface SoakLimits {
  readonly heapBytes: number;
  /** File descriptors; a few come and go with what is open in the moment of a sample. */
  readonly fds: number;
  readonly inotifyWatches: number;
  /** Kinds of handles and timers, each. */
  readonly resources: number;
}

/** What grew, from the median of the first third of the samples to that of the last; of resources those that changed. */
export function growthOf(samples: readonly Sample[]) {
  const third = Math.max(1, Math.floor(samples.length / 3));
  const [first, last] = [samples.slice(0, third), samples.slice(-third)];
  const grown = (of: (sample: Sample) => number): number =>
    median(last.map(of)) - median(first.map(of));
  const kinds = new Set(samples.flatMap(({ resources }) => Object.keys(resources)));
  const resources = [...kinds].map(
    (kind) => [kind, grown((sample) => sample.resources[kind] ?? 0)] as const,
  );
  return {
    heapBytes: grown(({ heapBytes }) => heapBytes),
    fds: grown(({ fds }) => fds),
    inotifyWatches: grown(({ inotifyWatches }) => inotifyWatches),
    children: grown(({ children }) => children),
    resources: Object.fromEntries(resources.filter(([, by]) => by !== 0)),
  };
}

/** What grew more than it may, for a person; nothing when all is flat. */
export function leaks(samples: readonly Sample[], limits: SoakLimits): readonly string[] {
  const { heapBytes, fds, inotifyWatches, children, resources } = growthOf(samples);
  const megabytes = (heapBytes / 1024 / 1024).toFixed(2);
  const rows: readonly (readonly [grown: number, most: number, text: string])[] = [
    [heapBytes, limits.heapBytes, `the heap grew by ${megabytes} MB`],
    [fds, limits.fds, `${fds} more files are open`],
    [inotifyWatches, limits.inotifyWatches, `${inotifyWatches} more files are watched`],
    [children, 0, `${children} more processes are left`],
    ...Object.entries(resources).map(
      ([kind, by]) => [by, limits.resources, `${by} more of ${kind}`] as const,
    ),
  ];
  return rows.filter(([grown, most]) => grown > most).map(([, , text]) => text);
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}
