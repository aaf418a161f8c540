import type { Problem } from "../../../streams/vocabulary.ts";
import type { Locate, TomlPath } from "./toml-locator.ts";

/** Collects the problems of one TOML file, each placed by its key path. */
export interface Diagnostics {
  readonly problems: readonly Problem[];
  /** Placed at the value, because that is what must change. */
  error(path: TomlPath, message: string, at?: "key" | "value"): void;
  warn(path: TomlPath, message: string, at?: "key" | "value"): void;
}

/** More problems than this of one file help no reader, and a page has to show them. */
const maxEach = 25;

/** `file` is relative to the project. Of each severity the first problems are kept, and one that more follow. */
export function createDiagnostics(file: string, locate: Locate): Diagnostics {
  const problems: Problem[] = [];
  const start = { line: 1, column: 1 };
  const add = (severity: Problem["severity"]): Diagnostics["error"] => {
    let count = 0;
    return (path, message, at = "value") => {
      count++;
      if (count > maxEach + 1) return;
      const text = count > maxEach ? "there are more problems; correct these first" : message;
      problems.push({ severity, file, ...(locate(path, at) ?? start), message: text });
    };
  };
  return { problems, error: add("error"), warn: add("warning") };
}

export function hasErrors(problems: readonly Problem[]): boolean {
  return problems.some(({ severity }) => severity === "error");
}

/** A problem of a whole file. */
export function fileProblem(file: string, message: string): Problem {
  return { severity: "error", file, line: null, column: null, message };
}
