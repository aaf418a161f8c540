import { questionLimits } from "../../../../src/foundation/contracts/question-kinds.ts";
import { lifeMs } from "../../../../src/runtime/runners/host-user/new-run.ts";
import { longestTimerMs } from "../../../../streams/longest-timer.ts";
import { anAgent } from "../../../helpers/agents.ts";

test("the supervisor of a run lives longer than the longest time that a question may be open", () => {
  const questionMs = questionLimits.seconds * 1000;
  expect(lifeMs(anAgent("dev", { timeoutSeconds: 60, waitTimeoutSeconds: 1 }))).toBeGreaterThan(
    questionMs + 60_000,
  );
  expect(questionMs).toBeLessThan(longestTimerMs);
});
