/** Why a session failed whose model gave no whole answer at its end: the same words for each CLI. */
export const answerProblems = {
  cut: "the answer was cut at its output limit",
  filtered: "the provider's content filter stopped the answer",
  refused: "the model refused to answer",
  empty: "the answer was empty",
  silent: "the answer was empty or a refusal, which codex does not tell apart",
} as const;
