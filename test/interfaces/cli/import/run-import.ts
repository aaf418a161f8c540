import { join } from "node:path";
import { makeFolders, type Folders } from "../fake-operator.ts";

export interface Told {
  readonly file: string | null;
  readonly line: number | null;
  readonly message: string;
  readonly fix: string | null;
}

/** The output of `al import --json`. */
export interface Imported {
  readonly agents: readonly string[];
  readonly files: readonly string[];
  readonly copied: readonly string[];
  readonly edits: readonly Told[];
  readonly notes: readonly Told[];
  readonly leftOut: readonly string[];
}

/** Folders of a test: where their project is, and where ours is going to be. */
export interface ImportFolders extends Folders {
  readonly source: string;
  readonly target: string;
  /** Imports without a question; it must succeed. */
  readonly imported: (...more: readonly string[]) => Promise<Imported>;
}

/** Those of a test, until it ends. */
export function makeImportFolders(): ImportFolders {
  const folders = makeFolders();
  onTestFinished(() => folders.remove());
  const [source, target] = [join(folders.home, "..", "theirs"), join(folders.home, "..", "ours")];
  return {
    ...folders,
    source,
    target,
    imported: async (...more) => {
      const flags = ["--to", target, "--yes", "--json", ...more];
      const { code, stdout, stderr } = await folders.al(["import", source, ...flags]);
      expect(code, stderr + stdout).toBe(0);
      return JSON.parse(stdout) as Imported;
    },
  };
}
