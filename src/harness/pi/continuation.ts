import type { Verdict } from "./classify-answer.ts";

type Why = Extract<Verdict, { kind: "continue" }>["why"];

/** How often in a row a model is asked to continue, and with which words. */
export const continuations: Readonly<
  Record<Why, { readonly limit: number; readonly prompt: string }>
> = {
  cut: {
    limit: 3,
    prompt:
      "Your last answer was cut at the output limit. Continue exactly where it stopped, without repeating any of it. Split long tool calls into shorter ones.",
  },
  empty: {
    limit: 1,
    prompt:
      "Your last answer was empty. If there is work left, go on with it; if all is done, say so in one sentence.",
  },
  paused: { limit: 10, prompt: "Continue." },
};

/** How often the latest answers, one after the other, asked for the same continuation. */
export interface Streak {
  readonly why: Why | null;
  readonly count: number;
}

export const noStreak: Streak = { why: null, count: 0 };

export function nextStreak(streak: Streak, verdict: Verdict): Streak {
  if (verdict.kind !== "continue") return noStreak;
  const count = streak.why === verdict.why ? streak.count + 1 : 1;
  return { why: verdict.why, count };
}

/** The verdict, given what came before: a model that is cut again and again never comes to its end. */
export function withinLimit(verdict: Verdict, { count }: Streak): Verdict {
  if (verdict.kind !== "continue" || count <= continuations[verdict.why].limit) return verdict;
  const message = `${verdict.message} ${count} times in a row`;
  return { kind: "fallback", message, cooldownMs: null };
}
