import { textDifference } from "../../foundation/files/text-difference.ts";
import type { RunContent } from "../../foundation/store/runs.ts";

/** One side of a comparison. */
export interface Compared {
  readonly instanceId: string;
  readonly content: RunContent;
}

/** The unified difference between the config and instructions of two runs; empty if they are equal. */
export function difference(from: Compared, to: Compared): string {
  return [
    patchOf("config.json", from, to, ({ config }) => config),
    patchOf("SKILL.md", from, to, ({ instructions }) => withEnd(instructions)),
    patchOf("scripts.toml", from, to, ({ scripts = "" }) => withEnd(scripts)),
  ].join("");
}

function patchOf(
  file: string,
  from: Compared,
  to: Compared,
  textOf: (content: RunContent) => string,
): string {
  const names = [`${from.instanceId}/${file}`, `${to.instanceId}/${file}`] as const;
  return textDifference(names, textOf(from.content), textOf(to.content));
}

/** A last line without its end would be a change of its own. */
function withEnd(text: string): string {
  return text === "" || text.endsWith("\n") ? text : `${text}\n`;
}
