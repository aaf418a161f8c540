import { map } from "rxjs";
import type { EngineChange } from "../../../../src/runtime/runners/container/engine-changes.ts";
import { keepReady } from "../../../../src/runtime/runners/container/keep-ready.ts";
import type { BuildEvent } from "../../../../streams/vocabulary.ts";
import { marbles } from "../../../helpers/marbles.ts";

const events: Record<string, BuildEvent> = {
  s: { type: "build-started", text: "building" },
  f: { type: "build-finished", error: null, usable: true },
  x: { type: "build-finished", error: "no", usable: false },
};
const changes: Record<string, EngineChange> = { r: "image-removed", g: "gone" };

/** The outcome of preparations that go like these, one after the other, while the engine changes. */
function draw(preparations: readonly string[], change: string, expected: string): void {
  let time = 0;
  marbles(({ cold, hot, scheduler, expectObservable }) => {
    const ready$ = keepReady(
      () => cold<BuildEvent>(preparations[time++] ?? "|", events),
      hot(change, changes),
      scheduler,
    ).pipe(map((event) => letterOf(event)));
    expectObservable(ready$, "5s !").toBe(expected);
  });
  expect(time).toBe(preparations.length);
}

const letterOf = (event: BuildEvent): string =>
  Object.keys(events).find((letter) => events[letter] === event) ?? "?";

test.each([
  [
    "rebuilds an image half a second after its removal, before a run needs it",
    ["s-(f|)", "s-(f|)"],
    "-----rr",
    "s-f-- 500ms s-f",
  ],
  ["emits no event for an image that still exists", ["s-(f|)", "(f|)"], "-----r", "s-f"],
  [
    "checks an image at once when the engine becomes unavailable, and reports that",
    ["s-(f|)", "(xf|)"],
    "-----g",
    "s-f--(xf)",
  ],
  [
    "reports an engine that is away during a check",
    ["(f|)", "x-(f|)"],
    "-----r",
    "f---- 500ms x-f",
  ],
  [
    "does not retry a failed build for a removed image, as the build may have removed it",
    ["s-(x|)", "(f|)"],
    "-----r---g",
    "s-x------f",
  ],
])("keepReady %s", (_what, preparations, change, expected) => draw(preparations, change, expected));
