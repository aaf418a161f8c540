import { problemSummary, problemText, whileLastGoodCounts } from "../../streams/problem-text.ts";
import type { Places } from "../../streams/runs/places.ts";
import { describeProjectChange } from "../config/describe-project-change.ts";
import type { ProjectChange } from "../config/project-config.ts";
import type { Inputs } from "./inputs.ts";
import { sourceNames } from "./reporting.ts";
import type { Reporting } from "./reporting.ts";

export interface ReloadDeps extends Pick<Reporting, "board" | "journal"> {
  readonly project$: Inputs["project$"];
  readonly places: Places;
  /** Whether the gateway listens on TCP already, by the settings that it had then. */
  readonly isListening: () => boolean;
  readonly starting: Places;
}

/** Puts a change of the project's config.toml in force; an invalid one is told and leaves the last good one. */
export function reloadProject(change: ProjectChange, deps: ReloadDeps): void {
  const { board, journal, project$, places, starting, isListening } = deps;
  if (change.type === "invalid") {
    const problems = whileLastGoodCounts(change.problems);
    board.apply({ type: "scheduler", patch: { error: problemSummary(problems) ?? "invalid" } });
    for (const problem of problems) journal.say(50, problemText(problem));
    return;
  }
  const { project } = change;
  const { text, needsRestart } = describeProjectChange(project$.value, project);
  board.apply({
    type: "scheduler",
    patch: { error: null, webhookSources: sourceNames(project) },
  });
  places.resize(project.scale);
  starting.resize(project.local.starting);
  project$.next(project);
  for (const problem of change.warnings) journal.say(40, problemText(problem));
  journal.say(30, `config.toml ${text === "" ? "is valid again" : text}`);
  if (needsRestart && isListening()) journal.say(40, "[gateway] changes with the next start");
}
