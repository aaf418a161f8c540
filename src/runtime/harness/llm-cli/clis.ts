import { basename } from "node:path";
import { claude } from "./claude.ts";
import { codex } from "./codex.ts";
import { gemini } from "./gemini.ts";
import type { LlmCli } from "./llm-cli.ts";

const clis: readonly LlmCli[] = [claude, codex, gemini];

/** The CLI of `[harness].command`, by its name or a path that ends with it. Throws if the CLI is unknown. */
export function cliFor(command: string): LlmCli {
  const name = basename(command);
  const known = clis.find(({ program }) => program === name);
  if (known !== undefined) return known;
  const names = clis.map(({ program }) => program).join(", ");
  throw new Error(
    `[harness] command = "${command}" is not a command line that the llm-cli harness knows; it knows ${names}, by name or by a path that ends with one of them`,
  );
}
