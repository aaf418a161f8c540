import { map } from "rxjs";
import { describe, expect, it } from "vitest";
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

describe("the needs of an agent are kept ready:", () => {
  it("it is built anew half a second after its image was removed, before a run needs it", () => {
    draw(["s-(f|)", "s-(f|)"], "-----rr", "s-f-- 500ms s-f");
  });

  it("nothing is said when it is still there", () => {
    draw(["s-(f|)", "(f|)"], "-----r", "s-f");
  });

  it("it is looked for at once when the engine went away, and that is said", () => {
    draw(["s-(f|)", "(xf|)"], "-----g", "s-f--(xf)");
  });

  it("an engine that is away when it is looked for is said", () => {
    draw(["(f|)", "x-(f|)"], "-----r", "f---- 500ms x-f");
  });

  it("a failure is not tried again for an image that was removed, as the build may have removed it", () => {
    draw(["s-(x|)", "(f|)"], "-----r---g", "s-x------f");
  });
});
