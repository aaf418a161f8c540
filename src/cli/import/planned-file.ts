/** A file of the new project. */
export interface PlannedFile {
  readonly content: string | Buffer;
  readonly isExecutable: boolean;
}
