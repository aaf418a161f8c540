import type { ExtensionFactory } from "@earendil-works/pi-coding-agent";
import type { Emit } from "./harness.ts";
import type { PiModel } from "./pi-models.ts";
import { providerFailure } from "./provider-failure.ts";

export interface Fallback {
  /** The model in use. */
  readonly current: () => PiModel;
  /** False when one of the models used so far has no known price. */
  readonly priced: () => boolean;
  readonly extension: ExtensionFactory;
}

/**
 * Goes on with the next model of the chain when one fails, at the point where the session would end: the failed
 * answer is taken out of the conversation and the same turn is asked again. A model that is rate-limited or not
 * available is reported, so that other runs leave it out for a while.
 */
export function modelFallback(models: readonly [PiModel, ...PiModel[]], emit: Emit): Fallback {
  let [current, ...rest] = models;
  let priced = current.priced;

  function report(text: string): string {
    const { message, cooldownMs } = providerFailure(text);
    if (cooldownMs !== null) {
      emit({ type: "cooldown", model: current.name, until: Date.now() + cooldownMs });
    }
    return message;
  }

  const extension: ExtensionFactory = (pi) => {
    pi.on("agent_before_settle", async (event) => {
      const failed = event.context.contextEntries.at(-1)?.sourceEntry;
      if (failed?.type !== "message" || failed.message.role !== "assistant") return undefined;
      if (failed.message.stopReason !== "error") return undefined;
      const error = report(failed.message.errorMessage ?? "no reason given");
      const [next, ...others] = rest;
      if (next === undefined) return undefined;
      emit(fallbackMessage(current.name, next.name, error));
      [current, rest] = [next, others];
      priced &&= current.priced;
      await current.activate();
      if (!(await pi.setModel(current.model))) return undefined;
      pi.setThinkingLevel(current.thinkingLevel);
      const omitted = { type: "context_edit", targetId: failed.id, replacement: null } as const;
      return { entries: [...event.entries, omitted], continue: true };
    });
  };
  return { current: () => current, priced: () => priced, extension };
}

function fallbackMessage(from: string, to: string, error: string) {
  return {
    type: "log",
    level: 40,
    time: Date.now(),
    kind: "fallback",
    msg: `model "${from}" failed (${error}); going on with "${to}"`,
    fields: { from, to, error },
  } as const;
}
