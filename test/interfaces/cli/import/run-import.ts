import { join } from "node:path";
import { perTest } from "../../../helpers/per-test.ts";
import { makeFolders } from "../fake-operator.ts";

interface Remark {
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
  readonly edits: readonly Remark[];
  readonly notes: readonly Remark[];
  readonly leftOut: readonly string[];
}

/** Folders for each test: where their project is, and where ours is going to be. */
export function importFolders() {
  return perTest(
    () => {
      const cli = makeFolders();
      const [source, target] = [join(cli.home, "../theirs"), join(cli.home, "../ours")];
      return {
        cli,
        source,
        target,
        /** The words that import it. */
        line: `import ${source} --to ${target}`,
        /** Imports without a question; it must succeed. */
        imported: async (flags = "") => {
          const line = `import ${source} --to ${target} --yes --json ${flags}`;
          return JSON.parse(await cli.output(line)) as Imported;
        },
      };
    },
    ({ cli }) => cli.remove(),
  );
}
