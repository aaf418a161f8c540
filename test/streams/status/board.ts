import type { SchedulerStatus } from "../../../streams/status/wire.ts";

/** A scheduler with nothing to do. */
export const schedulerStatus: SchedulerStatus = {
  paused: false,
  pausedWork: false,
  pausedAt: null,
  draining: false,
  startedAt: "1970-01-01T00:00:00.000Z",
  version: "0.1.0",
  project: "hello",
  gatewayUrl: null,
  running: 0,
  cronJobs: 0,
  webhookSources: [],
  error: null,
  warnings: [],
  alerts: { open: 0, dead: 0 },
  questions: 0,
};

/** Counts how often one entry is asked for or set, and refuses to be gone through. */
export class CountingMap<T> extends Map<string, T> {
  touched = 0;

  constructor() {
    super();
    const value = (): never => {
      throw new Error("an event must not look at every agent");
    };
    for (const way of [Symbol.iterator, "keys", "values", "entries", "forEach"])
      Object.defineProperty(this, way, { value });
  }

  override get(key: string): T | undefined {
    this.touched++;
    return super.get(key);
  }

  override set(key: string, value: T): this {
    this.touched++;
    return super.set(key, value);
  }
}
