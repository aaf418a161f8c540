/** What the probe inside a scheduler reads of it after a garbage collection. */
export interface ProbeReading {
  /** Without what V8 compiled. */
  readonly heapBytes: number;
  readonly codeBytes: number;
  /** Memory of buffers. */
  readonly externalBytes: number;
  readonly residentBytes: number;
  /** Totals of the process since its start. */
  readonly cpuMs: number;
  /** How late the event loop was since the last reading. */
  readonly delayMs: { readonly p50: number; readonly p99: number; readonly max: number };
  /** Handles that keep the process alive, by kind. */
  readonly resources: Readonly<Record<string, number>>;
}

/** A reading with what the system says of the process at the same moment. */
export interface Sample extends ProbeReading {
  /** Since the soak began. */
  readonly seconds: number;
  /** Open file descriptors. */
  readonly fds: number;
  readonly inotifyWatches: number;
  readonly children: number;
}
