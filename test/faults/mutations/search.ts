import type { Mutation } from "../mutation.ts";

const changes = ["test/features/search/index-changes.test.ts"];
const words = ["test/features/search/terms.test.ts"];
const threads = ["test/features/search/search-threads.test.ts"];

/** What keeps the index of logs true, and searches from harm. */
export const search: readonly Mutation[] = [
  {
    defence: "no word of a search is an operator of the index",
    file: "src/features/search/index-format.ts",
    find: '`"${words.join(" ")}"',
    replace: '`${words.join(" ")}',
    tests: words,
  },
  {
    defence: "no text has the marks of lines",
    file: "src/features/search/tokens.ts",
    find: "[\\p{L}\\p{N}\\p{M}]+",
    replace: "[\\p{L}\\p{N}\\p{M}\\p{Co}]+",
    tests: words,
  },
  {
    defence: "a search has a number of words that is limited",
    file: "src/features/search/terms.ts",
    find: "if (terms.length > maxTerms)",
    replace: "if (terms.length > 1e9)",
    tests: words,
  },
  {
    defence: "the beginning of half of all words is not searched for",
    file: "src/features/search/terms.ts",
    find: "const minPrefix = 2;",
    replace: "const minPrefix = 0;",
    tests: words,
  },
  {
    defence: "a log file that was truncated is indexed anew",
    file: "src/features/search/log-cursor.ts",
    find: "if (ino !== inode || size < indexed) return false;",
    replace: "if (size < indexed) return true;",
    tests: changes,
    only: "truncated",
  },
  {
    defence: "a log file with other lines in it is indexed anew",
    file: "src/features/search/log-cursor.ts",
    find: 'return buffer.toString("latin1", 0, bytesRead) === tail;',
    replace: "return bytesRead >= 0;",
    tests: changes,
    only: "replaced by",
  },
  {
    defence: "the words of a deleted log are not found",
    file: "src/features/search/indexer.ts",
    find: "      dropDeleted(files);\n",
    replace: "      void dropDeleted;\n",
    tests: changes,
    only: "deleted",
  },
  {
    defence: "the words of a deleted log are in no free page of the index",
    file: "src/features/search/day-writer.ts",
    find: "PRAGMA secure_delete = ON",
    replace: "PRAGMA secure_delete = OFF",
    tests: changes,
    only: "deleted",
  },
  {
    defence: "only its owner reads the index",
    file: "src/features/search/index-format.ts",
    find: 'closeSync(openSync(path, "wx", 0o600));',
    replace: 'closeSync(openSync(path, "wx", 0o644));',
    tests: changes,
  },
  {
    defence: "lines are committed with how far their file is read",
    file: "src/features/search/indexer.ts",
    find: "    inTransaction(db, () => {\n      const writer = createDayWriter(db, day);\n      for (const line of lines) writer.add(line);",
    replace:
      "    const writer = createDayWriter(db, day);\n    for (const line of lines) writer.add(line);\n    inTransaction(db, () => {",
    tests: ["test/features/search/index-killed.test.ts"],
  },
  {
    defence: "an index that is broken is made anew",
    file: "src/features/search/index-format.ts",
    find: "[11, 26].includes(errcode & 0xff)",
    replace: "[].length > 0",
    tests: threads,
  },
  {
    defence: "few searches wait for one that takes long",
    file: "src/features/search/queries.ts",
    find: "if (waiting >= maxWaiting)",
    replace: "if (waiting < 0)",
    tests: threads,
  },
  {
    defence: "a page of a search takes a time that is limited",
    file: "src/features/search/find-page.ts",
    find: "performance.now() > until",
    replace: "performance.now() < 0",
    tests: ["test/features/search/search-index.test.ts"],
    only: "took its time",
  },
  {
    defence: "a search that takes too long is given up",
    file: "src/features/search/queries.ts",
    find: "AbortSignal.timeout(timeoutMs)",
    replace: "AbortSignal.timeout(60_000)",
    tests: threads,
    only: "too long",
  },
  {
    defence: "colours of a terminal hide no word of a log",
    file: "src/features/search/line-content.ts",
    find: 'return plainText(parts.filter((part) => part !== "").join("\\n"));',
    replace: 'return parts.filter((part) => part !== "").join("\\n");',
    tests: ["test/interfaces/cli/logs.test.ts"],
    only: "no control sequence",
    built: true,
  },
  {
    defence: "a log line of brackets does not stop the index",
    file: "src/features/search/line-content.ts",
    find: " || depth > maxDepth",
    replace: "",
    tests: ["test/features/search/line-content.test.ts"],
  },
  {
    defence: "a pipe in the place of a log file does not stop the index",
    file: "src/features/search/readable.ts",
    find: "if (!stats.isFile()) return null;",
    replace: "",
    tests: changes,
  },
  {
    defence: "a thread that ended while it was idle is replaced",
    file: "src/features/search/asked-thread.ts",
    find: "if (thread === worker) thread = null;",
    replace: "",
    tests: ["test/features/search/asked-thread.test.ts"],
  },
];
