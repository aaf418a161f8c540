import { expect, test } from "vitest";
import { createOpenRequests, requestId } from "../../../src/start/abilities/open-requests.ts";
import type { Asked } from "../../../src/start/abilities/open-requests.ts";

const request = { resource: "file:x" };

function asked(more: Partial<Asked> = {}): Asked {
  const signal = new AbortController().signal;
  return { instanceId: "a-1", ability: "lock", key: "k", request, signal, ...more };
}

function aDesk() {
  const begun: string[] = [];
  const left: string[] = [];
  const requests = createOpenRequests();
  const ask = (one: Asked): Promise<unknown> =>
    requests.ask(
      one,
      (id) => begun.push(id),
      (id) => left.push(id),
    );
  return { begun, left, requests, ask };
}

const id = requestId(asked());

test("a request that is repeated is begun once, and both are answered", async () => {
  const { begun, requests, ask } = aDesk();
  const both = [ask(asked()), ask(asked())];
  requests.answer(id, 7);
  expect(await Promise.all(both)).toEqual([7, 7]);
  expect(begun).toEqual([id]);
});

test("the same key of another run or ability is another request, and of another body none", async () => {
  const { begun, ask } = aDesk();
  void ask(asked());
  void ask(asked({ instanceId: "b-1" }));
  void ask(asked({ ability: "unlock" }));
  expect(begun).toHaveLength(3);
  await expect(ask(asked({ request: { resource: "file:y" } }))).rejects.toThrow("another request");
});

test("it is left when the last who waits for it hangs up", () => {
  const { left, requests, ask } = aDesk();
  const [one, two] = [new AbortController(), new AbortController()];
  for (const { signal } of [one, two]) void ask(asked({ signal }));
  one.abort();
  expect([left, requests.isHeard(id)]).toEqual([[], true]);
  two.abort();
  expect([left, requests.isHeard(id)]).toEqual([[id], false]);
});

test("who has hung up before it was begun is not waited for", () => {
  const { left, ask } = aDesk();
  void ask(asked({ signal: AbortSignal.abort() }));
  expect(left).toEqual([id]);
});

test("one of an earlier scheduler is not begun anew when it is repeated", async () => {
  const { begun, requests, ask } = aDesk();
  requests.expect("a-1", id, () => undefined);
  const repeated = ask(asked());
  requests.answer(id, "it");
  expect(await repeated).toBe("it");
  expect(begun).toEqual([]);
});

test("those of a run that is over are refused, and no others", async () => {
  const { requests, ask } = aDesk();
  const [own, other] = [ask(asked()), ask(asked({ instanceId: "b-1" }))];
  requests.refuseAll("a-1", new Error("over"));
  await expect(own).rejects.toThrow("over");
  requests.answer(requestId(asked({ instanceId: "b-1" })), 1);
  expect(await other).toBe(1);
});
