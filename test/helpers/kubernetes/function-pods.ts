import type { PodEnd, PodStart, StartProgram } from "./pod-program.ts";

/** One pod that a test plays. */
export interface FunctionPod {
  readonly start: PodStart;
  /** What the node asked of it, in order. */
  readonly asked: readonly string[];
  end(end: PodEnd): void;
}

export interface FunctionPods {
  readonly start: StartProgram;
  readonly all: readonly FunctionPod[];
}

/** Pods without processes. One that is asked to end does so at once. */
export function functionPods(): FunctionPods {
  const all: FunctionPod[] = [];
  return {
    all,
    start: (start) => {
      const { promise: ended, resolve: end } = Promise.withResolvers<PodEnd>();
      const asked: string[] = [];
      all.push({ start, asked, end });
      const ask = (signal: string, exitCode: number) => () => {
        asked.push(signal);
        end({ exitCode });
      };
      return { ended, terminate: ask("TERM", 143), kill: ask("KILL", 137) };
    },
  };
}
