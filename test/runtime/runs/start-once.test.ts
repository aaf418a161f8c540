import { openStore } from "../../../src/features/open-store.ts";
import { Problem } from "../../../src/foundation/errors.ts";
import { createStartOnce } from "../../../src/runtime/runs/start-once.ts";
import { tempDir } from "../../helpers/temp-dir.ts";

const manual = (prompt: string | null) => ({ kind: "manual", prompt }) as const;

function opened(dir: string) {
  const store = openStore(dir);
  let refusal: Problem | null = null;
  const startOnce = createStartOnce(store);
  const once = (agent: string, trigger: ReturnType<typeof manual>, key: string) =>
    startOnce({ agent, trigger, key }, async (id) => {
      if (refusal !== null) throw refusal;
      await store.work.enqueue([{ id, agent, at: Date.now(), attempt: 1, trigger }]);
      return { triggerId: id, instanceId: null, queued: true };
    });
  const count = () => store.history.query({ page: 1, limit: 50 }).total;
  return { store, once, count, refuse: (error: Problem | null) => void (refusal = error) };
}

test("many requests at once with one idempotency key start one run; other keys and agents start their own", async () => {
  const { store, once, count } = opened(tempDir());
  const asked = Array.from({ length: 20 }, () => once("dev", manual("a"), "k"));
  const started = await Promise.all(asked);
  expect(new Set(started.map(({ triggerId }) => triggerId)).size).toBe(1);
  expect(started.filter(({ repeated }) => repeated !== true)).toHaveLength(1);
  await once("dev", manual("a"), "other");
  await once("ops", manual("a"), "k");
  expect(count()).toBe(3);
  store.close();
});

test("an idempotency key is remembered across a restart, with its prompt", async () => {
  const dir = tempDir();
  const before = opened(dir);
  const { triggerId } = await before.once("dev", manual("a"), "k");
  before.store.close();
  const { store, once, count } = opened(dir);
  expect(await once("dev", manual("a"), "k")).toMatchObject({ triggerId, repeated: true });
  await expect(once("dev", manual(null), "k")).rejects.toMatchObject({ code: "conflict" });
  expect(count()).toBe(1);
  store.close();
});

test("a rejected request leaves its idempotency key free", async () => {
  const { store, once, count, refuse } = opened(tempDir());
  refuse(new Problem("disabled", "no"));
  const both = await Promise.allSettled([
    once("dev", manual("a"), "k"),
    once("dev", manual("a"), "k"),
  ]);
  expect(both.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
  refuse(null);
  expect(await once("dev", manual("a"), "k")).toMatchObject({ queued: true });
  expect(count()).toBe(1);
  store.close();
});
