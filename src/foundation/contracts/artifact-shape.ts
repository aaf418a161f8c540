/** The folder of a run whose files are kept, and the name of its tree. */
export const outFolder = "out";

/** Limits of the files in `out/`, beside their size; both sides of a run's socket use them. */
export const artifactShape = { entries: 4_000, depth: 16, nameBytes: 255 } as const;
