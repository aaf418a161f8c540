import type { LogEntry } from "../../../../streams/vocabulary.ts";
import { durationText } from "../../../../streams/duration-text.ts";
import { dollars } from "../../../features/spend/spend-text.ts";
import { counted } from "../../../foundation/contracts/format.ts";

/** The usage of one turn: `1,204 tokens (1,000 in, 204 out) · $0.0012 · haiku`. */
export function usageText(entry: LogEntry): string {
  const { input, output, model } = entry;
  const isSplit = typeof input === "number" && typeof output === "number";
  const split = isSplit
    ? ` (${input.toLocaleString("en")} in, ${output.toLocaleString("en")} out)`
    : "";
  const [tokens = entry.msg, ...facts] = factList(entry);
  return [tokens + split, ...facts, ...(typeof model === "string" ? [model] : [])].join(" · ");
}

/** The numbers of a line in words, without those already in its text. */
export function factsOf(entry: LogEntry): string {
  return factList(entry)
    .filter((fact) => !entry.msg.includes(fact))
    .join(" · ");
}

/** The numbers of a line: duration, turns, tokens, cost. */
export function factList({ tokens, costUsd, durationMs, turns }: LogEntry): readonly string[] {
  const facts = [
    numberFact(durationMs, durationText),
    numberFact(turns, (count) => counted(count, "turn")),
    numberFact(tokens, (count) => counted(count, "token")),
    numberFact(costUsd, (cost) => (cost === 0 ? "" : dollars(cost))),
  ];
  return facts.filter((fact) => fact !== "");
}

function numberFact(value: unknown, text: (value: number) => string): string {
  return typeof value === "number" && Number.isFinite(value) ? text(value) : "";
}
