import type { Diagnostic } from "./vocabulary.ts";

/** `agents/dev/config.toml:4:12  schedule "every day" is …`: the format of a problem everywhere. */
export function problemText({ file, line, column, message }: Diagnostic): string {
  const place = [file, line, column].filter((part) => part !== null).join(":");
  return `${place}  ${message}`;
}

/** The first of the problems, and the number of further ones; null without problems. */
export function problemSummary(problems: readonly Diagnostic[]): string | null {
  const [first, ...others] = problems;
  if (first === undefined) return null;
  return others.length === 0
    ? problemText(first)
    : `${problemText(first)} (and ${others.length} more)`;
}

/** The problems of a file that was valid before: the first error adds that the last valid config stays active. */
export function whileLastGoodCounts(problems: readonly Diagnostic[]): readonly Diagnostic[] {
  const first = problems.findIndex(({ severity }) => severity === "error");
  return problems.map((problem, index) =>
    index === first
      ? { ...problem, message: `${problem.message}; the last valid config stays active` }
      : problem,
  );
}
