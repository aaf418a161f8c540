/** A word that may stand at the cursor, with a description where the word alone does not say what it is. */
export interface Proposal {
  readonly word: string;
  readonly description?: string;
}

/** Paths are proposed by the shell itself. */
export type Proposals = "@files" | "@directories" | readonly Proposal[];
