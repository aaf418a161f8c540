import { map, merge, Subject } from "rxjs";
import type { RunEvent } from "../../../streams/vocabulary.ts";
import { changesText } from "../../features/memory/changes-text.ts";
import type { MemoryReports } from "../../features/memory/memory-reports.ts";
import type { MemoryProposal } from "../../features/memory/memory.ts";
import type { MemoryStore } from "../../features/memory/memory-store.ts";
import type { QuestionStore } from "../../features/people/question-store.ts";
import { endedProblem, type Questions } from "../../features/people/questions.ts";
import { checkAnswer, type Question } from "../../foundation/contracts/questions.ts";
import { hasCode, messageOf, Problem } from "../../foundation/errors.ts";

interface ProposalDeps {
  readonly store: Pick<MemoryStore, "proposals" | "proposal">;
  readonly memories: Pick<MemoryReports, "proposed" | "proposedDifference">;
  /** How long an open proposal is kept, in ms. */
  readonly keepMs: () => number;
}

/**
 * Adds the changes that untrusted runs propose for memories to the questions of runs. A proposal is stored with its memory,
 * because it outlives its run.
 */
export function withProposals(
  { list, find }: Pick<QuestionStore, "list" | "find">,
  { store, memories, keepMs }: ProposalDeps,
) {
  const questionOf = (proposal: MemoryProposal): Question => {
    const { id, name, at, agent, instanceId, state, decidedAt: answeredAt, by } = proposal;
    return {
      kind: "memory",
      id,
      at,
      agent,
      instanceId,
      subject: name,
      gates: [],
      fallback: null,
      prompt: `Keep the changes of ${instanceId} to the memory ${name} (${changesText(memories.proposed(proposal), namedFiles)})?`,
      form: { kind: "choice", choices: ["allow", "deny"] },
      until: at + keepMs(),
      state: state === "open" ? "open" : "answered",
      answer: state === "open" ? null : state === "allowed" ? "allow" : "deny",
      answeredAt,
      by,
    };
  };
  const found = (id: string): Question | null => {
    const proposal = store.proposal(id);
    return proposal && questionOf(proposal);
  };
  return {
    questionOf,
    find: (id: string) => find(id) ?? found(id),
    list: ((query) => {
      const { state, agent, before, limit } = query;
      const asked = before === undefined ? null : find(before);
      const last = before === undefined ? null : (asked ?? found(before));
      if (before !== undefined && last === null) return [];
      const beforeAt = asked === null ? last?.at : undefined;
      const isOf = (one: MemoryProposal) =>
        (agent ?? one.agent) === one.agent && (last === null || one.at < last.at);
      const states = state === undefined ? [true, false] : [state === "open"];
      const proposals = states.flatMap((isOpen) => store.proposals(undefined, isOpen));
      const all = [...list({ ...query, beforeAt }), ...proposals.filter(isOf).map(questionOf)];
      const ordered = all.sort((a, b) => b.at - a.at);
      return limit < 0 ? ordered : ordered.slice(0, limit);
    }) satisfies QuestionStore["list"],
    differenceOf: async ({ kind, id }: Question, most?: number): Promise<string | null> => {
      const proposal = kind === "memory" ? store.proposal(id) : null;
      if (proposal === null) return null;
      return memories
        .proposedDifference(proposal, most)
        .catch((error: unknown) => `\\ not readable: ${messageOf(error)}\n`);
    },
  };
}

const namedFiles = 10;

interface OpenProposalDeps extends ProposalDeps {
  readonly store: Pick<MemoryStore, "proposals" | "proposal" | "ofRun" | "decide">;
  /** Resolves once all earlier writes are committed. */
  readonly committed: () => Promise<unknown>;
  readonly onChange: () => void;
  readonly warn: (message: string) => void;
}

/** The questions of runs and proposals, as people answer them. */
export function createProposals(questions: Questions, deps: OpenProposalDeps) {
  const { store, committed, onChange, warn } = deps;
  const all = withProposals(questions, deps);
  const proposed$ = new Subject<MemoryProposal>();
  const changed = (proposal: MemoryProposal): void => {
    onChange();
    proposed$.next(proposal);
  };
  return {
    ...all,
    /** Rejects as `questions.answer` does. */
    answer: (async (id, given, by) => {
      const question = store.proposal(id) && all.find(id);
      if (question === null) return questions.answer(id, given, by);
      if (question.state !== "open") throw endedProblem(question);
      const checked = checkAnswer(question.form, given);
      if (typeof checked === "string") {
        throw new Problem("malformed", `${JSON.stringify(given)} is not ${checked}`);
      }
      const decided = await store
        .decide(id, checked.value === "allow", by)
        .catch((error: unknown) => {
          throw hasCode(error, "answered") ? endedProblem(all.find(id) ?? question) : error;
        });
      changed(decided);
      return all.questionOf(decided);
    }) satisfies Questions["answer"],
    /** Each question and proposal once it is stored, and once it has ended. */
    changed$: merge(questions.changed$, proposed$.pipe(map(all.questionOf))),
    /** Emits the proposals of a run that has ended. */
    onEvent: (event: RunEvent): void => {
      if (event.type !== "finished") return;
      committed().then(
        () => store.ofRun(event.instanceId).proposals.forEach(changed),
        (error: unknown) => warn(`proposals of ${event.instanceId}: ${messageOf(error)}`),
      );
    },
  };
}

export type Proposals = ReturnType<typeof createProposals>;
