import { map, NEVER, tap } from "rxjs";
import { createClock } from "../../../streams/clock.ts";
import { holdWork } from "../../../streams/runs/hold-work.ts";
import type { RunEvent, WorkItem } from "../../../streams/vocabulary.ts";
import { anItem } from "../../helpers/agents.ts";
import { marbles } from "../../helpers/marbles.ts";
import { storedItems } from "../stored-items.ts";

interface Lines {
  readonly paused: string;
  readonly items: string;
  /** A letter passed, a capital one waits in the store. */
  readonly out: string;
  readonly released: readonly number[];
}

const items = Object.fromEntries(Array.from("abcdefg", (id) => [id, anItem(id)]));

function letterOf(value: WorkItem | RunEvent): string {
  if (!("type" in value)) return value.id;
  return "item" in value ? value.item.id.toUpperCase() : value.type;
}

test.each<[string, Lines]>([
  [
    "passes at once while it is not paused",
    { paused: "n", items: "-a-b", out: "-a-b", released: [] },
  ],
  [
    "waits in the store while it is paused, and passes on resume in batches and in order",
    {
      paused: "n-y------n",
      items: " -a-b-c-de----------f---------g",
      out: "   -a-B-C-DE------(bc)F-(de)--f-g",
      released: [27],
    },
  ],
  [
    "that is still stored keeps waiting when it is paused again",
    {
      paused: "n-y---n---------y----n",
      items: " ---bcd-----------e",
      out: "   ---BCD------(bc)-E---------(de)",
      released: [33],
    },
  ],
])("new work %s", (_behaviour, lines) => shows(lines));

function shows({ paused, items: arriving, out, released }: Lines): void {
  marbles(({ cold, hot, expectObservable, flush, scheduler }) => {
    const store = storedItems(scheduler);
    const out$ = hot(arriving, items).pipe(
      tap(store.commit),
      holdWork({
        pausedAfter$: store.pausedAfter(cold(paused, { y: true, n: false })),
        withdrawn$: NEVER,
        stored: store.work,
        clock: createClock(scheduler),
      }),
      map(letterOf),
    );
    expectObservable(out$).toBe(out);
    flush();
    expect(store.released).toEqual(released);
  });
}
