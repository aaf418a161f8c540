import { asyncScheduler } from "rxjs";
import { createClock } from "../../../streams/clock.ts";
import { createMemoryReports } from "../../../src/features/memory/memory-reports.ts";
import { createQuestionStore } from "../../../src/features/people/question-store.ts";
import { createQuestions } from "../../../src/features/people/questions.ts";
import type { Question } from "../../../src/foundation/contracts/questions.ts";
import { createRedactor } from "../../../src/foundation/credentials/redactor.ts";
import { createProposals } from "../../../src/runtime/runs/proposals.ts";
import { memoryWorld } from "../../features/memory/support.ts";
import { webhookItem } from "../../foundation/store/support.ts";
import { ada } from "../../interfaces/dashboard/people-states.ts";

const dayMs = 86_400_000;
const limit = 10;

/** A memory with one version of a trusted run, a question of a run, and what strangers' runs propose. */
async function world() {
  let at = Date.now();
  const made = memoryWorld(undefined, { now: () => (at += 1) });
  const { memory, store, blobs } = made;
  const run = await made.start("dev-1");
  await run.write({ notes: "one\n" });
  await run.end();
  const questions = createQuestions({
    store: store.tables(createQuestionStore),
    clock: { ...createClock(asyncScheduler), now: () => (at += 1) },
    redactor: createRedactor(),
    onCount: () => undefined,
    warn: () => undefined,
  });
  onTestFinished(() => questions.stop());
  const changes: string[] = [];
  const proposals = createProposals(questions, {
    store: memory,
    memories: createMemoryReports({ store: memory, blobs, optionsOf: () => null }),
    keepMs: () => dayMs,
    committed: () => store.work.record(() => undefined),
    onChange: () => changes.push("counted"),
    warn: (message) => changes.push(message),
  });
  const emitted: Question[] = [];
  proposals.changed$.subscribe((one) => emitted.push(one));
  return {
    ...made,
    proposals,
    changes,
    emitted,
    ask: () =>
      questions.open({
        kind: "ask",
        agent: "dev",
        gates: [],
        instanceId: "dev-9",
        subject: "1",
        prompt: "Deploy?",
        form: { kind: "boolean" },
        fallback: null,
        seconds: 60,
      }),
    /** A stranger's run leaves this text; resolves to its proposal. */
    propose: async (instanceId: string, text: string) => {
      const strange = await made.start(instanceId, { item: webhookItem(instanceId, "r1", "dev") });
      await strange.write({ notes: text });
      await strange.end();
      const [proposal] = memory.ofRun(instanceId).proposals;
      if (proposal === undefined) throw new Error("nothing is proposed");
      return proposal;
    },
  };
}

test("proposals are listed among the questions in the order of their times, on pages of any size", async () => {
  const { proposals, ask, propose } = await world();
  const first = await propose("dev-2", "two\n");
  const asked = await ask();
  const second = await propose("dev-3", "three\n");
  const ids = [second.id, asked.id, first.id];
  const idsOf = (found: readonly Question[]) => found.map(({ id }) => id);
  expect(idsOf(proposals.list({ state: "open", limit }))).toEqual(ids);
  for (const [index, before] of ids.entries()) {
    expect(idsOf(proposals.list({ before, limit: 1 }))).toEqual(ids.slice(index + 1, index + 2));
  }
  expect(idsOf(proposals.list({ agent: "owl", limit }))).toEqual([]);
  expect(proposals.list({ state: "settled", limit })).toEqual([]);
  expect(proposals.find(first.id)).toMatchObject({
    kind: "memory",
    subject: "dev",
    instanceId: "dev-2",
    prompt: "Keep the changes of dev-2 to the memory dev (notes changed)?",
    until: first.at + dayMs,
    state: "open",
  });
});

test("the first answer to a proposal decides it, and the latest version changes only if it is allowed", async () => {
  const { proposals, propose, now, emitted } = await world();
  const denied = await propose("dev-2", "two\n");
  const malformed = proposals.answer(denied.id, "yes", ada);
  await expect(malformed).rejects.toMatchObject({ code: "malformed" });
  expect(await proposals.answer(denied.id, "Deny", ada)).toMatchObject({
    state: "answered",
    answer: "deny",
    by: ada,
  });
  expect(await now()).toEqual({ notes: "one\n" });
  const again = proposals.answer(denied.id, "allow", ada);
  await expect(again).rejects.toMatchObject({
    code: "answered",
    message: expect.stringContaining("Ada via Slack answered: Deny") as string,
  });
  const { id } = await propose("dev-3", "one\nthree\n");
  const both = [proposals.answer(id, "allow", ada), proposals.answer(id, "deny", ada)];
  const ends = await Promise.allSettled(both);
  expect(ends.map(({ status }) => status)).toEqual(["fulfilled", "rejected"]);
  expect(await now()).toEqual({ notes: "one\nthree\n" });
  expect(emitted.map(({ answer }) => answer)).toEqual(["deny", "allow"]);
  expect(proposals.list({ state: "settled", limit }).map(({ answer }) => answer)).toEqual([
    "allow",
    "deny",
  ]);
});

test("a run's proposal is emitted once its end is committed", async () => {
  const { proposals, propose, emitted, changes, start } = await world();
  const { id, instanceId } = await propose("dev-2", "two\n");
  const { request } = await start("dev-5");
  const end = { outcome: "succeeded", exitCode: 0, reason: null, usage: null } as const;
  const { item } = request;
  const event = { type: "finished", agent: "dev", at: 0, startedAt: 0, end, item } as const;
  proposals.onEvent({ ...event, instanceId });
  await expect.poll(() => emitted.map((one) => one.id)).toEqual([id]);
  expect(changes).toEqual(["counted"]);
});

test("the difference of a proposal is that from the version that its run got", async () => {
  const { proposals, propose } = await world();
  const { id } = await propose("dev-2", "two\n");
  const question = proposals.find(id);
  if (question === null) throw new Error("it is listed");
  expect(await proposals.differenceOf(question)).toBe(
    "--- version-1/notes\n+++ proposed/notes\n@@ -1,1 +1,1 @@\n-one\n+two\n",
  );
  expect(await proposals.differenceOf({ ...question, kind: "ask" })).toBeNull();
});
