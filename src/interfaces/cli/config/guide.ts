import { parse } from "smol-toml";
import { UserError, messageOf } from "../../../foundation/errors.ts";
import type { Choice, Prompts } from "../terminal/prompts.ts";
import { isRefused, newProblems } from "./config-file.ts";
import type { ConfigFile } from "./config-file.ts";
import { edited, parseKey, parseSetting } from "../../../foundation/config/edit-toml.ts";
import type { Edit } from "../../../foundation/config/edit-toml.ts";

/** What people change most; everything else is one --set away. */
const agentKeys = [
  "schedule",
  "models",
  "credentials",
  "timeout",
  "budget.run",
  "budget.day",
  "scale",
  "timezone",
  "catchUp",
  "callable",
  "tags",
  "maxWorkQueueSize",
  "runtime.type",
  "runtime.run_as",
];
const projectKeys = [
  "gateway.port",
  "gateway.host",
  "timezone",
  "scale",
  "workQueueSize",
  "local.memory",
  "local.cpus",
  "local.timeout",
  "budget.run",
  "budget.day",
  "budget.month",
  "historyRetentionDays",
];

const done = "";

/** Asks which keys get which values, each checked at once, until the person has enough. */
export async function guide(
  file: ConfigFile,
  agent: string | null,
  prompts: Prompts,
): Promise<Edit[]> {
  const keys = agent === null ? projectKeys : agentKeys;
  const edits: Edit[] = [];
  for (;;) {
    const text = edited(file.text, edits);
    const choices: Choice<string>[] = [
      { value: done, name: edits.length === 0 ? "change nothing" : "save" },
      ...keys.map((key) => ({ value: key, name: `${key} = ${shown(valueIn(text, key))}` })),
    ];
    const key = await prompts.choose("What to change", choices);
    if (key === done) return edits;
    const current = valueIn(text, key);
    const answer = await prompts.text({
      message: `${key} (leave empty to remove)`,
      ...(current === undefined ? {} : { default: shown(current) }),
      problem: (given) => problemOf(file, [...edits, editFor(key, given)]),
    });
    edits.push(editFor(key, answer));
  }
}

function editFor(key: string, answer: string): Edit {
  return answer.trim() === "" ? { path: parseKey(key) } : parseSetting(`${key}=${answer}`);
}

function problemOf(file: ConfigFile, edits: readonly Edit[]): string | null {
  try {
    return newProblems(file, edited(file.text, edits)).find(isRefused)?.message ?? null;
  } catch (error) {
    if (error instanceof UserError) return messageOf(error);
    throw error;
  }
}

function valueIn(text: string, key: string): unknown {
  return parseKey(key).reduce<unknown>(
    (inner, part) =>
      typeof inner === "object" && inner !== null
        ? (inner as Record<string, unknown>)[part]
        : undefined,
    parse(text),
  );
}

function shown(value: unknown): string {
  if (value === undefined) return "(not set)";
  return typeof value === "string" ? value : JSON.stringify(value);
}
