/** Where a run works, and all its variables: what a process that was started ahead is told in one line of JSON. */
export interface RunPlace {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
}
