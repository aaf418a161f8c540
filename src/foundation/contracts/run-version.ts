/** What a run ran: texts that are compared line by line. */
export interface RunContent {
  /** JSON of the active config with its keys in order, and of the skill's files by path and hash. Holds no secret value. */
  readonly config: string;
  /** The markdown body of SKILL.md. */
  readonly instructions: string;
  /** The scripts of its scripted models; absent for none. */
  readonly scripts?: string;
}

/** A content and its name. */
export interface RunVersion {
  /** The first 32 hex digits of the content's SHA-256. */
  readonly hash: string;
  readonly content: RunContent;
}

/** The repository that a project is in. */
export interface GitState {
  /** The hash of `HEAD`, in hex. */
  readonly commit: string;
  /** Whether the project's directory has changes that are not committed. */
  readonly dirty: boolean;
}
