import { shellWord } from "../../contracts/shell-word.ts";
import { keyEdit, keyNote } from "./remark.ts";
import type { KeyRemark } from "./remark.ts";
import { isTable, tableAt, textAt } from "./tables.ts";
import type { Table } from "./tables.ts";

/** The shell command of a step, by its provider; null when its params are not what it needs. */
const commandOf: Readonly<Record<string, (params: Table) => string | null>> = {
  shell: (params) => withOutput(textAt(params, "command"), params),
  http: (params) => {
    const url = textAt(params, "url");
    if (url === null) return null;
    const headers = Object.entries(tableAt(params, "headers")).map(
      // In double quotes, because a header may name a variable, as in `Bearer ${TOKEN}`.
      ([name, value]) => `-H "${name}: ${String(value).replaceAll('"', '\\"')}"`,
    );
    const command = ["curl -fsSL", ...headers, `"${url.replaceAll('"', "%22")}"`].join(" ");
    return withOutput(command, params);
  },
  "git-clone": (params) => {
    const [repo, dest] = [textAt(params, "repo"), textAt(params, "dest")];
    if (repo === null || dest === null) return null;
    const url = /^[\w.-]+\/[\w.-]+$/.test(repo) ? `git@github.com:${repo}.git` : repo;
    const depth = typeof params.depth === "number" ? ` --depth ${params.depth}` : "";
    return `git clone${depth} ${shellWord(url)} ${shellWord(dest)}`;
  },
};

function withOutput(command: string | null, params: Table): string | null {
  const output = textAt(params, "output");
  if (command === null || output === null) return command;
  return `mkdir -p "$(dirname ${shellWord(output)})" && ${command} > ${shellWord(output)}`;
}

interface PreHooks {
  readonly commands: readonly string[];
  readonly remarks: readonly KeyRemark[];
}

/** The `[[preflight]]` steps of older projects as `[hooks].pre`. */
export function preHooks(steps: unknown): PreHooks {
  const given = Array.isArray(steps) ? steps.filter(isTable) : [];
  const commands: string[] = [];
  const remarks: KeyRemark[] = [];
  for (const step of given) {
    const provider = textAt(step, "provider") ?? "";
    const read = Object.hasOwn(commandOf, provider) ? commandOf[provider] : undefined;
    const command = read?.(tableAt(step, "params")) ?? null;
    if (command === null) {
      const message = `a preflight step of "${provider}" can't be written as a command; left out`;
      remarks.push(
        keyEdit(["hooks"], message, '[hooks] with pre = ["a command that does the same"]'),
      );
      continue;
    }
    commands.push(step.required === false ? `${command} || true` : command);
    remarks.push(
      keyNote(["hooks"], `the preflight step of "${provider}" is written as a pre hook`),
    );
  }
  return { commands, remarks };
}
