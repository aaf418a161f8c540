import { keyEdit, keyNote } from "./remark.ts";
import type { KeyRemark } from "./remark.ts";
import { isTable, textAt } from "./tables.ts";

/** Harnesses by the names that other schedulers have for them. */
const harnesses: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  pi: { type: "pi" },
  "llm-cli": { type: "llm-cli" },
  claude: { type: "llm-cli", command: "claude" },
  "claude-code": { type: "llm-cli", command: "claude" },
  codex: { type: "llm-cli", command: "codex" },
  "codex-cli": { type: "llm-cli", command: "codex" },
  gemini: { type: "llm-cli", command: "gemini" },
  "gemini-cli": { type: "llm-cli", command: "gemini" },
};

interface MappedHarness {
  readonly value: unknown;
  readonly remarks: readonly KeyRemark[];
}

/** A harness as it is named there, by a text or a table with `type`, as the table that it is here. */
export function harnessFor(theirs: unknown): MappedHarness {
  const name = isTable(theirs) ? textAt(theirs, "type") : theirs;
  const found = typeof name === "string" && Object.hasOwn(harnesses, name) ? harnesses[name] : null;
  if (found == null) {
    const message = `harness ${JSON.stringify(name ?? null)} is not here; left out, so that pi is used`;
    const fix = '[harness] with type = "pi", or type = "llm-cli" and command = "claude"';
    return { value: undefined, remarks: [keyEdit([], message, fix)] };
  }
  const command = isTable(theirs) ? textAt(theirs, "command") : null;
  const value = command === null ? found : { ...found, command };
  const isSame = isTable(theirs) && found.type === name;
  const written = Object.entries(value).map(([key, text]) => `${key} = "${text}"`);
  const remark = keyNote(
    ["harness"],
    `harness ${String(name)} is written as ${written.join(", ")}`,
  );
  return { value, remarks: isSame ? [] : [remark] };
}
