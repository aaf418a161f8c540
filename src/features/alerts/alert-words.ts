import type { AlertTopic } from "./rules/alert.ts";
import type { AlertDeliveryView } from "./alerts-report.ts";
import { counted } from "../../foundation/contracts/format.ts";

/** The fault in words, beside the name of the agent. */
export const topicWords: Readonly<Record<AlertTopic, string>> = {
  runs: "runs fail",
  no_success: "no success for long",
  config: "config is invalid",
  image: "image can't be built",
  credentials: "requirements are missing",
  blocked: "the machine can't start runs",
  missed_ticks: "missed its schedule",
  dead_letters: "triggers not processed",
  budget: "budget used up",
  scheduler_down: "scheduler was down",
  question: "waiting for an answer",
  digest: "digest",
  test: "test",
};

/** Number of attempts of a delivery; empty where it adds nothing. */
export function attemptsText({ state, attempts }: AlertDeliveryView): string {
  if (state === "dead") return `after ${counted(attempts, "attempt")}`;
  if (state === "sent") return attempts > 1 ? `at attempt ${attempts}` : "";
  return attempts > 0 ? `attempt ${attempts + 1}` : "";
}
