import {
  createMemoryReports,
  type MemoryOptions,
} from "../../src/features/memory/memory-reports.ts";
import type {
  MemoryFile,
  MemoryProposal,
  MemoryVersion,
  NotKept,
} from "../../src/features/memory/memory.ts";
import type { QuestionView } from "../../src/foundation/contracts/question-views.ts";
import { Problem } from "../../src/foundation/errors.ts";
import { fakeQuestions } from "./fake-questions.ts";

/** The memories of a context, in lists that a test sets, and its questions: no difference is made for one. */
export function fakeMemories(
  called: (...words: readonly unknown[]) => void,
  asked: QuestionView[],
) {
  const state = {
    versions: [] as MemoryVersion[],
    proposals: [] as MemoryProposal[],
    notKept: null as NotKept | null,
    /** Contents by their hashes. */
    contents: new Map<string, string>(),
    options: new Map<string, MemoryOptions>(),
  };
  const of = (name: string) => state.versions.filter((one) => one.name === name);
  const version = (name: string, n: number) => of(name).find((one) => one.n === n) ?? null;
  const head = (name: string) => of(name).at(-1) ?? null;
  const proposals = (name: string | null = null, isOpen = true) =>
    state.proposals.filter(
      (one) => (name ?? one.name) === one.name && (one.state === "open") === isOpen,
    );
  const memories = createMemoryReports({
    store: {
      all: () =>
        [...new Set(state.versions.map(({ name }) => name))].map((name) => {
          const files = head(name)?.files ?? [];
          const bytes = files.reduce((sum, one) => sum + one.bytes, 0);
          const counts = { files: files.length, bytes, proposals: proposals(name).length };
          return { name, n: head(name)?.n ?? 0, at: head(name)?.at ?? null, ...counts };
        }),
      openProposals: () => proposals().length,
      versions: (name, page) => {
        const { before = Infinity, limit } = page ?? {};
        return of(name)
          .toReversed()
          .filter(({ n }) => n < before)
          .slice(0, limit);
      },
      version,
      head,
      files: (name, n) => (n === undefined ? head(name) : version(name, n))?.files ?? [],
      ofRun: () => ({ versions: [], proposals: [], notKept: [] }),
      restore: async (name, n, by) => {
        called("restore", name, n);
        const files = version(name, n)?.files;
        if (files === undefined) throw new Problem("unknown_version", `no version ${n}`);
        const made = { name, n: (head(name)?.n ?? 0) + 1, at: Date.now(), files, by };
        state.versions.push({ ...made, instanceId: null, conflicts: [] });
        return Promise.resolve({ ...made, instanceId: null, conflicts: [] });
      },
      proposals,
      lastNotKept: () => state.notKept,
      proposal: (id) => state.proposals.find((one) => one.id === id) ?? null,
      decide: () => Promise.reject(new Error("decided by questions")),
    },
    blobs: {
      read: async function* (hash: string) {
        const text = state.contents.get(hash);
        if (text === undefined) throw new Problem("not_found", `no content ${hash}`);
        yield await Promise.resolve(Buffer.from(text));
      },
    },
    optionsOf: (name) => state.options.get(name) ?? null,
  });
  /** A file whose content can be read. */
  const file = (path: string, text: string): MemoryFile => {
    const hash = `${path}:${text}`;
    state.contents.set(hash, text);
    return { path, hash, bytes: Buffer.byteLength(text), isExecutable: false };
  };
  /** Adds versions with these files, the first one first; run n is `<agent>-<letter>…`. */
  const add = (name: string, ...versions: readonly (readonly MemoryFile[])[]): void => {
    state.options.set(name, { maxBytes: 1024 * 1024, maxFileBytes: 256 * 1024, shared: [] });
    for (const [index, files] of versions.entries()) {
      const instanceId = `dev-${"abcdefgh"[index]?.repeat(8)}`;
      const at = Date.parse("2026-11-22T08:00:00Z") + index * 60_000;
      state.versions.push({ name, n: index + 1, at, instanceId, by: null, files, conflicts: [] });
    }
  };
  const differenceOf = () => Promise.resolve(null);
  const context = { memories, differenceOf, questions: fakeQuestions(asked) };
  return { context, state: Object.assign(state, { file, add }) };
}
