import { Subject } from "rxjs";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { PathKind } from "../../../src/foundation/files/classify.ts";
import { onceMoreWhenQuiet } from "../../../src/foundation/files/watch-files.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test("folders that went unseen are found at the end of the next burst", async () => {
  const seen$ = new Subject<PathKind>();
  const lists = [
    ["a", "b", "c"],
    ["c", "d"],
    ["c", "d"],
  ];
  const list = () => Promise.resolve({ names: lists.shift() ?? [] });
  const looked: string[] = [];
  seen$.pipe(onceMoreWhenQuiet(list)).subscribe((kind) => {
    if (kind?.kind === "agent") looked.push(kind.name);
  });
  const burst = async (...names: readonly string[]): Promise<string> => {
    looked.length = 0;
    for (const name of names) seen$.next({ kind: "agent", name });
    await vi.advanceTimersByTimeAsync(1_000);
    return looked.join(" ");
  };
  expect(await burst("a", "b")).toBe("a b");
  // That a went was seen, that b went was not.
  expect(await burst("a", "d")).toBe("a d a b");
  expect(await burst("c")).toBe("c");
});
