import { globSync, readFileSync } from "node:fs";
import { dirname, join, posix, resolve } from "node:path";

/** Compares "**Imported by** …" and "**Imports** …" of each README with the imports in the code. */
const root = resolve(import.meta.dirname, "..");
const readmes = globSync(["src/*/**/README.md", "streams/README.md"], { cwd: root }).map(
  (path) => ({ path, text: readFileSync(join(root, path), "utf8") }),
);

const imports = globSync(["src/**/*.{ts,tsx}", "streams/**/*.ts"], { cwd: root }).flatMap((from) =>
  [...readFileSync(join(root, from), "utf8").matchAll(/(?:from|import)\s*\(?\s*"(\.[^"]+)"/g)].map(
    ([, to = ""]) => ({ from, to: posix.join(posix.dirname(from), to) }),
  ),
);

test.each(readmes)("$path lists exactly the folders that import its folder", ({ path, text }) => {
  const folder = dirname(path);
  const claimed = paths(text, "Imported by");
  const actual = imports.filter(({ from, to }) => isIn(to, folder) && !isIn(from, folder));
  compare(
    claimed,
    actual.map(({ from }) => from),
  );
});

test.each(readmes.filter(({ text }) => text.includes("**Imports**")))(
  "$path lists exactly the folders that its folder imports",
  ({ path, text }) => {
    const folder = dirname(path);
    const actual = imports.filter(({ from, to }) => isIn(from, folder) && !isIn(to, folder));
    compare(
      paths(text, "Imports"),
      actual.map(({ to }) => to),
    );
  },
);

/** The paths in backticks of the sentence that begins with this word in bold. */
function paths(text: string, word: string): readonly string[] {
  const [, sentence = ""] = new RegExp(`\\*\\*${word}\\*\\*([^]*?)\\.\\s`).exec(text) ?? [];
  return [...sentence.matchAll(/`((?:src|streams)[^`]*)`/g)].map(([, path = ""]) => path);
}

function isIn(path: string, folder: string): boolean {
  return path === folder || path.startsWith(`${folder}/`);
}

function compare(claimed: readonly string[], files: readonly string[]): void {
  const missing = files.filter((file) => !claimed.some((path) => isIn(file, path)));
  const unused = claimed.filter((path) => !files.some((file) => isIn(file, path)));
  expect({ missing, unused }).toEqual({ missing: [], unused: [] });
}
