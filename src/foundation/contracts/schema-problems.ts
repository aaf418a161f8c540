import type { z } from "zod";

const most = 5;

/** What a schema finds wrong, for a person: where and what, and nothing of the value. The first five. */
export function schemaProblems({ issues }: Pick<z.ZodError, "issues">): string {
  const problems = issues.map(({ path, message }) =>
    [path.join("."), message].filter((part) => part !== "").join(": "),
  );
  return problems.slice(0, most).join("; ");
}
