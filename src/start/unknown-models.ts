import { concatMap, distinct, filter, from, map, mergeMap } from "rxjs";
import type { Observable } from "rxjs";
import { harnesses } from "../../streams/harnesses.ts";
import type { ProjectConfig } from "../config/project-config.ts";
import { unknownModels } from "../models/unknown-models.ts";

/** What is assumed of models that are not known, once each; an external command line knows its own models. */
export function unknownModelWarnings(project$: Observable<ProjectConfig>): Observable<string> {
  return project$.pipe(
    filter(({ harness }) => harnesses[harness.type].callsModels),
    concatMap(({ models }) => from(unknownModels(Object.values(models)))),
    mergeMap((unknown) => unknown),
    map(({ what, fix }) => `${what}; ${fix}`),
    distinct(),
  );
}
