import { basename } from "node:path";
import { claude } from "./claude.ts";
import { codex } from "./codex.ts";
import { gemini } from "./gemini.ts";
import { programOf } from "./program.ts";
import type { LlmCli } from "./llm-cli.ts";

const clis: readonly LlmCli[] = [claude, codex, gemini];

/** The CLI of `[harness].command`, by its name or a path that ends with it; any other is a program of its own. */
export function cliFor(command: string): LlmCli {
  const name = basename(command);
  return clis.find(({ program }) => program === name) ?? programOf(command);
}
