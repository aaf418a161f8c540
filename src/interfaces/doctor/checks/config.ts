import { basename } from "node:path";
import type { Check } from "../finding.ts";
import { ofError, ofProblem, ok } from "../finding.ts";
import { shellWord } from "../../../foundation/contracts/shell-word.ts";

/** Whether the project's `config.toml` can be used. */
export const config: Check = {
  name: "config",
  run: ({ project, unreadable, problems, projectDir }) => {
    if (unreadable !== null) {
      const found = ofError(unreadable, "error", projectDir);
      const isMissing = unreadable.code === "not_a_project";
      const fix = isMissing ? `al new ${shellWord(projectDir)}` : found.fix;
      return [{ ...found, fix }];
    }
    const found = problems.map(ofProblem);
    const fine = project === null ? [] : [ok(`${basename(projectDir)}/config.toml can be used`)];
    return [...found, ...fine];
  },
};
