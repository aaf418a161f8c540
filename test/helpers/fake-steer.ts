import type { RunService } from "../../src/runtime/runs/run-service.ts";

/** Operations that take every message, kill no run, and start `dev-zyxwvuts` in place of any run that is continued. */
export function fakeSteerOperations(
  called: (...words: readonly unknown[]) => void,
): Pick<RunService, "steer" | "continueRun" | "killAll"> {
  return {
    steer: async (instanceId, text, by) => {
      called("steer", instanceId, text ?? "stop");
      const kind = text === null ? "stop" : "steer";
      const at = new Date().toISOString();
      const message = { seq: 1, at, kind, text: text ?? "", by } as const;
      return Promise.resolve({ ...message, receivedAt: null, continuedBy: null });
    },
    continueRun: async (instanceId, prompt) => {
      called("continue", instanceId, prompt);
      const started = { triggerId: "t2", instanceId: "dev-zyxwvuts", queued: false };
      return Promise.resolve({ agent: "dev", ...started });
    },
    killAll: () => {
      called("killAll");
      return Promise.resolve(0);
    },
  };
}
