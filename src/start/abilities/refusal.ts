import type { LockRefusal } from "../../../streams/coordination/lock-events.ts";
import { maxLocksOfRun } from "../../../streams/coordination/locks.ts";
import { refusal } from "../../contracts/run-channel.ts";
import type { ChannelError } from "../../contracts/run-channel.ts";
import { OperationError } from "../../contracts/operations.ts";
import { lockView } from "./lock-view.ts";

/** Why a lock is not given, not kept or not released. */
export function lockRefusal(refused: LockRefusal, resource: string): ChannelError {
  const { why, holder } = refused;
  const held = holder === null ? {} : { holder: lockView(holder) };
  const by = holder?.instanceId ?? "nobody";
  const problem = (detail: string): ChannelError => refusal(why, detail, held);
  switch (why) {
    case "held":
      return problem(`${resource} is held by ${by}.`);
    case "wait_timeout":
      return problem(`${resource} was held by ${by} for all that time.`);
    case "not_holder":
      return problem(`This run does not hold ${resource}; ${by} does.`);
    case "too_many_locks":
      return problem(`This run holds ${maxLocksOfRun} locks already, and may hold no more.`);
    case "deadlock": {
      const path = [...refused.path];
      const detail = `To wait for ${resource} would never end, as these wait for each other: ${path.join(" → ")}.`;
      return refusal(why, detail, { ...held, path });
    }
  }
}

const codes = {
  unknown_agent: "unknown_agent",
  disabled: "disabled",
  invalid_config: "disabled",
} as const;

/** The same refusal for a run; what a run can do nothing about comes to it as `unavailable`. */
export function fromOperation(error: unknown): unknown {
  if (!(error instanceof OperationError)) return error;
  const code = error.code in codes ? codes[error.code as keyof typeof codes] : "unavailable";
  return refusal(code, error.message, { cause: error });
}
