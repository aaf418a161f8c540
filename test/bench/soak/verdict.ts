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

export interface Growth {
  readonly heapBytes: number;
  readonly fds: number;
  readonly inotifyWatches: number;
  readonly children: number;
  /** By kind, those that changed. */
  readonly resources: Readonly<Record<string, number>>;
}

/** What grew, from the median of the first third of the samples to that of the last. */
export function growthOf(samples: readonly Sample[]): Growth {
  const third = Math.max(1, Math.floor(samples.length / 3));
  const [first, last] = [samples.slice(0, third), samples.slice(-third)];
  const grown = (of: (sample: Sample) => number): number =>
    median(last.map(of)) - median(first.map(of));
  const kinds = new Set(samples.flatMap(({ resources }) => Object.keys(resources)));
  const resources = [...kinds].map((kind): [string, number] => [
    kind,
    grown((sample) => sample.resources[kind] ?? 0),
  ]);
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
  const growth = growthOf(samples);
  const found: string[] = [];
  if (growth.heapBytes > limits.heapBytes) {
    found.push(`the heap grew by ${(growth.heapBytes / 1024 / 1024).toFixed(2)} MB`);
  }
  if (growth.fds > limits.fds) found.push(`${growth.fds} more files are open`);
  if (growth.inotifyWatches > limits.inotifyWatches) {
    found.push(`${growth.inotifyWatches} more files are watched`);
  }
  if (growth.children > 0) found.push(`${growth.children} more processes are left`);
  for (const [kind, by] of Object.entries(growth.resources)) {
    if (by > limits.resources) found.push(`${by} more of ${kind}`);
  }
  return found;
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}
