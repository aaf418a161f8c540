/** How a pod's program ended. */
export interface PodEnd {
  readonly exitCode: number;
  /** `OOMKilled` where the node killed it for its memory. */
  readonly reason?: string;
}

/** A pod as its node starts it. */
export interface PodStart {
  readonly name: string;
  readonly node: string;
  readonly command: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** Files of its secrets, by absolute path. */
  readonly files: Readonly<Record<string, string>>;
  /** What it writes, for its log. */
  readonly write: (text: string) => void;
}

/** The program of a pod: a process, or a function of a test that has a thousand of them. */
export interface PodProgram {
  readonly ended: Promise<PodEnd>;
  /** Asks it to end, as SIGTERM does. */
  terminate(): void;
  /** Ends it and all that it started at once. */
  kill(): void;
}

export type StartProgram = (pod: PodStart) => PodProgram;
