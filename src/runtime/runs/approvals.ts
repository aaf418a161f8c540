import type { NewQuestion } from "../../features/people/questions.ts";
import { questionLimits } from "../../foundation/contracts/question-kinds.ts";
import type { Question } from "../../foundation/contracts/questions.ts";
import { unlessAborted } from "../runners/as-run.ts";
import { tooManyQuestions, waitForAnswer, waitId } from "./asks.ts";
import type { LiveRun } from "./live-run.ts";
import { hungUpMs, type PendingRequest } from "./pending-requests.ts";
import type { Picture } from "./picture.ts";
import type { RequestContext } from "./request-context.ts";

/** A request that is held until a person approves it. */
export interface HeldRequest {
  readonly kind: "host" | "over" | "call" | "tool";
  readonly subject: string;
  /** Whether the agent's own config can allow it for good. */
  readonly hasAlways: boolean;
}

/** A held request, as people see it. */
export interface Held extends HeldRequest, Picture {
  /** Names of the agents whose gates hold it. */
  readonly gates: readonly string[];
}

/** Approvals of held requests, which people give as answers to questions. */
export function createApprovals(context: RequestContext) {
  const { questions } = context;
  /** Null while no person has answered. To allow once is used up by one request: the one that the person was shown. */
  const decision = async ({ instanceId }: LiveRun, { kind, subject, requestHash, gates }: Held) => {
    const last = questions.latest(instanceId, kind, subject);
    // A new gate may hold the request now, about which the earlier answer did not decide.
    if (last?.answer !== "deny" && gates.some((name) => last?.gates.includes(name) === false))
      return null;
    if (last?.answer === "once") return (await questions.use(last.id, requestHash)) || null;
    return last === null || last.answer === null ? null : last.answer !== "deny";
  };
  /** Why the run may not ask people, who are not asked already; null if it may. */
  const tooMany = ({ instanceId }: LiveRun, { kind, subject }: Held): string | null =>
    questions.latest(instanceId, kind, subject)?.state === "open"
      ? null
      : tooManyQuestions(questions.ofRun(instanceId));
  /** Resolves once a person has answered, and the run works again. Several requests share one question. */
  const ask = async (run: LiveRun, held: Held, signal: AbortSignal): Promise<void> => {
    signal.throwIfAborted();
    const question = questionOf(run, held);
    const begin = (pending: PendingRequest<Question>) =>
      waitForAnswer(run, pending, questions.open(question), context);
    const joined = { id: waitId(question), body: null, signal };
    await unlessAborted(run.pending.join(joined, begin, hungUpMs), signal);
    await run.freezer.thaw();
  };
  /** Null once a person allows it, else why not. Rejects with the reason of `signal`, and at the run's end. */
  const pass = async (run: LiveRun, held: Held, signal: AbortSignal): Promise<string | null> => {
    for (;;) {
      // A request that hung up must not use up an approval.
      signal.throwIfAborted();
      const isAllowed = await decision(run, held);
      if (isAllowed !== null)
        return isAllowed ? null : "a person denied it for the rest of this run";
      const why = tooMany(run, held);
      if (why !== null) return why;
      await ask(run, held, signal);
    }
  };
  return { tooMany, ask, pass };
}

function questionOf({ agent, instanceId }: LiveRun, held: Held): NewQuestion {
  const { hasAlways, ...rest } = held;
  const choices = ["once", "run", ...(hasAlways ? ["always"] : []), "deny"];
  const form = { kind: "choice", choices } as const;
  const seconds = questionLimits.defaultSeconds;
  return { ...rest, agent, instanceId, form, fallback: null, seconds };
}
