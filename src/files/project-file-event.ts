/**
 * What watching a project's files tells. `touched` is a hint that a path (relative to the project, `/` between its
 * parts) may have come, gone or changed; `ready` that from here on changes are seen; `warning` that watching is
 * impaired, for a person.
 */
export type ProjectFileEvent =
  FileTouched | { readonly type: "ready" } | { readonly type: "warning"; readonly message: string };

/** A path that must be read again. */
export interface FileTouched {
  readonly type: "touched";
  readonly path: string;
}
