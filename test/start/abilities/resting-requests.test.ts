import { expect, test } from "vitest";
import { createRestingRequests } from "../../../src/start/abilities/resting-requests.ts";

/** What happens to requests whose runs get their place again when `free` is called. */
function setUp() {
  const happened: string[] = [];
  const waiting: (() => void)[] = [];
  const resting = createRestingRequests(
    {
      answer: (id, answer) => void happened.push(`answered ${id} ${String(answer)}`),
      refuse: (id, error) => void happened.push(`refused ${id} ${String(error)}`),
    },
    {
      begin: (instanceId, { text }) => {
        happened.push(`${instanceId} ${text}`);
        return { finish: (ready) => void waiting.push(ready) };
      },
    },
  );
  const free = (): void => {
    for (const ready of waiting.splice(0)) ready();
  };
  return { happened, resting, free };
}

test("a run hears the answer once it has its place again, and at once when it kept it", () => {
  const { happened, resting, free } = setUp();
  resting.answer("kept", 1);
  resting.rest("a", "dev-1", "waits");
  resting.answer("a", 2);
  resting.rest("b", "dev-2", "waits");
  resting.refuse("b", "no");
  expect(happened.splice(0)).toEqual(["answered kept 1", "dev-1 waits", "dev-2 waits"]);
  free();
  expect(happened).toEqual(["answered a 2", "refused b no"]);
});

test("a request that nobody waits for any more is over at once, so that it can be asked again", () => {
  const { happened, resting, free } = setUp();
  resting.rest("a", "dev-1", "waits");
  resting.leave("a");
  expect(happened.at(-1)).toBe("refused a Error: nobody waits for it any more");
  free();
  resting.answer("a", 3);
  expect(happened.slice(2)).toEqual(["answered a 3"]);
});

test("a run that ended hears nothing more of its rest", () => {
  const { happened, resting, free } = setUp();
  resting.rest("a", "dev-1", "waits");
  resting.end("dev-1");
  resting.answer("a", 1);
  free();
  expect(happened).toEqual(["dev-1 waits", "answered a 1"]);
});
