import type { RunnerEvent } from "../../../streams/runs/runner.ts";
import type { ClusterRunnerOptions } from "./cluster-runner-options.ts";

/** A run that waits for a machine: its time does not count, and its status says why. */
export interface Waiting extends Disposable {
  readonly show: (text: string) => void;
  /** A machine has it. */
  readonly end: () => void;
}

export function createWaiting(
  instanceId: string,
  emit: (event: RunnerEvent) => void,
  { pauseClock }: Pick<ClusterRunnerOptions, "pauseClock">,
): Waiting {
  let isShown = false;
  let unpause = pauseClock?.(instanceId);
  const resume = (): void => {
    unpause?.();
    unpause = undefined;
  };
  return {
    show: (text) => {
      isShown = true;
      emit({ type: "status-text", text });
    },
    end: () => {
      resume();
      if (isShown) emit({ type: "status-text", text: "" });
      isShown = false;
    },
    [Symbol.dispose]: resume,
  };
}
