import { Problem } from "../../foundation/errors.ts";
import { maxLocksOfRun, type LockRefusal } from "./rules/locks.ts";
import { refusal } from "../wire/protocol.ts";
import { didYouMean } from "../../foundation/contracts/did-you-mean.ts";
import { lockView } from "./lock-view.ts";

/** Why a lock is not given, not extended or not released. */
export function lockRefusal(refused: LockRefusal, resource: string): Problem {
  const { why, holder } = refused;
  const held = holder === null ? {} : { holder: lockView(holder) };
  const by = holder?.instanceId ?? "no run";
  const problem = (detail: string): Problem => refusal(why, detail, held);
  switch (why) {
    case "held":
      return problem(`${resource} is held by ${by}.`);
    case "wait_timeout":
      return problem(`${resource} was held by ${by} the whole time.`);
    case "not_holder":
      return problem(`This run does not hold ${resource}; ${by} does.`);
    case "too_many_locks":
      return problem(`This run holds ${maxLocksOfRun} locks, which is the maximum.`);
    case "deadlock": {
      const path = [...refused.path];
      const detail = `Waiting for ${resource} would never end, because these runs wait for each other: ${path.join(" → ")}.`;
      return refusal(why, detail, { ...held, path });
    }
  }
}

/** The codes of refusals for codes that runs don't know. */
const codes = {
  invalid_config: "disabled",
  draining: "unavailable",
  refused: "unavailable",
} as const;

/** Rejects a wait for deliveries of a source, or for calls of an agent, that the project does not have. */
export function mustHaveSource(
  kind: "webhook" | "agent-call",
  source: string | undefined,
  known: { readonly sources: readonly string[]; readonly agents: readonly string[] },
): void {
  if (source === undefined) return;
  const [names, code, noun] =
    kind === "webhook"
      ? ([known.sources, "unknown_source", "webhook source"] as const)
      : ([known.agents, "unknown_agent", "agent"] as const);
  if (names.includes(source)) return;
  const others = names.length === 0 ? "it has none" : `it has ${names.slice(0, 10).join(", ")}`;
  const advice = didYouMean(source, names) || `; ${others}`;
  throw refusal(code, `The project has no ${noun} ${JSON.stringify(source)}${advice}`);
}

/** The same rejection for a run; `unavailable` if the run can't change its cause. Other errors are unchanged. */
export function fromOperation(error: unknown): unknown {
  if (!(error instanceof Problem) || !(error.code in codes)) return error;
  return refusal(codes[error.code as keyof typeof codes], error.message, { cause: error });
}
