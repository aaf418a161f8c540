import type { AgentBeforeSettleEvent, ExtensionFactory } from "@earendil-works/pi-coding-agent";
import type { JobModel } from "../../../foundation/contracts/job.ts";
import { logTo, type Emit } from "../harness.ts";
import type { PiModel } from "./pi-models.ts";
import type { Verdict } from "./judge-answer.ts";
import { continuations, nextStreak, noStreak, withinLimit } from "../retry-policy.ts";

/** Timeout and retries of a model, from its config. */
export interface RequestLimits {
  readonly maxRetries: number | null;
  readonly timeoutSeconds: number | null;
}

/**
 * Decides where the session would end: a cut or empty answer is continued; after a failed one the next model gets the
 * same turn, without the failed answer in the conversation. A model that is rate-limited or not available is reported,
 * so that other runs try it last for a while.
 */
export function createModelChain(
  models: readonly [PiModel, ...PiModel[]],
  jobModels: readonly JobModel[],
  emit: Emit,
) {
  let [current, ...rest] = models;
  let isPriced = current.priced;
  let latest: Verdict | null = null;
  let streak = noStreak;

  const judge = (verdict: Verdict): Verdict => {
    streak = nextStreak(streak, verdict);
    latest = withinLimit(verdict, streak);
    if (latest.kind === "continue") {
      const { limit } = continuations[latest.why];
      log(`${latest.message}; it is asked to continue (${streak.count} of ${limit})`);
    }
    return latest;
  };
  const log = (text: string) => logTo(emit, "run", 40, `model "${current.name}": ${text}`);

  /** Null if no model is left. */
  const takeNext = (message: string): PiModel | null => {
    const [next, ...others] = rest;
    if (next === undefined) return null;
    const fields = { from: current.name, to: next.name, error: message };
    const msg = `model "${current.name}" failed (${message}); the run resumes with "${next.name}"`;
    logTo(emit, "fallback", 40, msg, fields);
    [current, rest, streak] = [next, others, noStreak];
    isPriced &&= current.priced;
    current.activate();
    return current;
  };

  const extension: ExtensionFactory = (pi) => {
    pi.on("agent_before_settle", async (event) => {
      if (latest === null || latest.kind === "complete") return undefined;
      const active = pi.getActiveTools();
      const tool = latest.kind === "continue" ? null : refusedTool(latest.message, active);
      if (tool !== null) {
        log(`${latest.message}; the tool ${tool} is left out`);
        pi.setActiveTools(active.filter((name) => name !== tool));
        return { entries: withoutAnswer(event), continue: true };
      }
      if (latest.kind === "fail") return undefined;
      if (latest.kind === "continue") {
        const { prompt } = continuations[latest.why];
        const entries = latest.why === "empty" ? withoutAnswer(event) : event.entries;
        return { entries: [...entries, asked(prompt)], continue: true };
      }
      const { cooldownMs, message } = latest;
      if (cooldownMs !== undefined) {
        emit({ type: "cooldown", model: current.name, until: Date.now() + cooldownMs });
      }
      const next = takeNext(message);
      if (next === null || !(await pi.setModel(next.model))) return undefined;
      pi.setThinkingLevel(next.thinkingLevel);
      return { entries: withoutAnswer(event), continue: true };
    });
  };
  return {
    current: (): PiModel => current,
    /** The limits of the current model. */
    limits: (): RequestLimits => limitsOf(current, jobModels),
    /** Number of usable models, including the current one. */
    modelsLeft: (): number => rest.length + 1,
    /** False if one of the models used so far has no known price. */
    isPriced: (): boolean => isPriced,
    /** Adjusts the verdict on the session's latest answer by the earlier ones, and returns it. */
    judge,
    /** Null before the first answer. */
    latest: (): Verdict | null => latest,
    extension,
  };
}

/** The tool of an MCP server whose schema a provider refuses: OpenAI and Groq name it, others its number; else null. */
function refusedTool(message: string, active: readonly string[]): string | null {
  if (!/^4(00|22) /.test(message) || !/schema|function_declarations|parameters/i.test(message))
    return null;
  const [, number] =
    /function_declarations\[(\d+)/.exec(message) ?? /\btools[.[](\d+)/.exec(message) ?? [];
  const words: readonly string[] = message.match(/[\w-]+/g) ?? [];
  const named = active.find((name) => words.includes(name)) ?? active[Number(number)];
  return named?.includes("__") === true ? named : null;
}

/** The models of a session: the one in use and the fallbacks behind it. */
export type ModelChain = ReturnType<typeof createModelChain>;

function limitsOf({ name }: PiModel, jobModels: readonly JobModel[]): RequestLimits {
  const { maxRetries = null, timeoutSeconds = null } =
    jobModels.find((model) => model.name === name) ?? {};
  return { maxRetries, timeoutSeconds };
}

type Drafts = AgentBeforeSettleEvent["entries"];

function asked(content: string): Drafts[number] {
  return { type: "custom_message", customType: "continue", content, display: true };
}

/** The answer is no longer part of the conversation; pi may already have removed it. */
function withoutAnswer({ entries, context }: AgentBeforeSettleEvent): Drafts {
  const last = context.contextEntries.at(-1)?.sourceEntry;
  if (last?.type !== "message" || last.message.role !== "assistant") return entries;
  return [...entries, { type: "context_edit", targetId: last.id, replacement: null }];
}
