import { readFileSync } from "node:fs";
import { join } from "node:path";
import { loadYaml } from "@kubernetes/client-node";
import type { Rule } from "./routes.ts";

const page = join(import.meta.dirname, "../../../src/runtime/cluster/kubernetes/README.md");

/** What the role in the docs allows: an operator gives the scheduler no more. */
export function roleRules(): readonly Rule[] {
  const [, yaml = ""] = /```yaml\n([^]*?)```/.exec(readFileSync(page, "utf8")) ?? [];
  const role = yaml.split(/^---$/m).find((each) => /^kind: Role$/m.test(each)) ?? "";
  return loadYaml<{ rules: readonly Rule[] }>(role).rules;
}
