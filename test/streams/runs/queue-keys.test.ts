import type { OnNew } from "../../../streams/agent-config.ts";
import type { QueueLimits } from "../../../streams/runs/queue-latest.ts";
import { createSlots } from "../../../streams/runs/slots.ts";
import { createKeyedRun } from "../../../streams/runs/keyed-runs.ts";
import { expectQueue, held, type Drawing, type More } from "./queue-drawing.ts";

/** v and w have one session key; a, b and c have one key, x and y another, r is a retry and m a missed run of the first one; n has none, t and u are ticks of the first key. */
const keyOf = (item: string): string | null =>
  "abcmrtu".includes(item) ? "1" : "xy".includes(item) ? "2" : null;
const more = (): More => ({
  isTick: (item) => "tu".includes(item),
  mayWait: (item) => !"tu".includes(item),
  sessionOf: (item) => ("vw".includes(item) ? "s" : undefined),
  keyed: (item) => {
    const key = keyOf(item);
    return key === null ? null : { id: item, key, isRetry: item === "r", isLate: item === "m" };
  },
});

const keys = (
  onNew: OnNew,
  { size = 9, scale = 9, limit = 1, ...rest }: Partial<QueueLimits & { limit: number }> = {},
): QueueLimits => ({ size, scale, mode: "open", keys: { limit, onNew }, ...rest });

test.each<[does: string, limits: Parameters<typeof expectQueue>[0], drawing: Drawing]>([
  [
    "passes over an item whose key is busy",
    keys("wait"),
    { items: "-abxn", queued: "--b", ran: "-A-XN-B" },
  ],
  [
    "passes over an item whose session key has a live run",
    { size: 9, scale: 9, mode: "open", hasSessions: true },
    { items: "-vwn", queued: "--w", ran: "-V-N--W" },
  ],
  [
    "runs as many items of a key as its limit, and of all keys as its scale",
    keys("wait", { limit: 2, scale: 3 }),
    { items: "-abcxy", queued: "---c-y", ran: "-AB-X-CY" },
  ],
  [
    "starts items of a key in their order",
    keys("wait", { scale: 1 }),
    { items: "-abxc", ran: "-A----B----X----C" },
  ],
  [
    "replaces the waiting item of a key, in its turn",
    keys("replace", { scale: 1 }),
    {
      items: "     -abxc",
      superseded: "----b",
      depth: "     --12--1----0",
      ran: "       -A----C----X",
    },
  ],
  [
    "replaces the waiting item while it is held, and starts the newest",
    { h: { ...held(9), keys: { limit: 1, onNew: "replace" } }, o: keys("replace") },
    { items: "-abx", limits: "h---o", superseded: "--a", ran: "----(BX)" },
  ],
  [
    "ends the oldest run of a key once, and replaces the item that waits for its end",
    keys("cancel"),
    { items: "-abc", ending: "--a", superseded: "---b", ran: "-A----C" },
  ],
  [
    "ends no run of a key that has room for another",
    keys("cancel", { limit: 2 }),
    { items: "-abc", ending: "---a", ran: "-AB---C" },
  ],
  [
    "counts all that wait when it drops the oldest, also those whose key is busy",
    keys("wait", { size: 2, scale: 2 }),
    { items: "-abcxyn", dropped: "-----bc", ran: "-A--X-N--Y" },
  ],
  [
    "drops the oldest while others of its key are replaced, and each ends once",
    keys("cancel", { size: 2, scale: 2 }),
    {
      items: "     -axynbc",
      ending: "    ---x-a",
      superseded: "------b",
      dropped: "   -----y",
      ran: "       -AX---NC",
    },
  ],
  [
    "lets a retry give way to newer work of its key, and end none",
    keys("cancel"),
    { items: "-ar-", superseded: "--r", ending: "----", ran: "-A" },
  ],
  [
    "lets a retry give way to the item that waits, and not to a run that may be older",
    keys("replace", { limit: 2, scale: 2 }),
    { items: "-abrc", superseded: "----r", ran: "-AB---C" },
  ],
  [
    "lets a missed run wait for its key, where it ends and replaces no newer work, and newer work replaces it",
    keys("cancel"),
    { items: "-amb", ending: "---a", superseded: "---m", ran: "-A----B" },
  ],
  [
    "skips a tick whose key is busy",
    keys("cancel"),
    { items: "-at", skipped: "--t", ending: "---", ran: "-A" },
  ],
  [
    "lets a tick wait for its key, as newer work of it, if ticks wait",
    keys("cancel", { ticksWait: true }),
    { items: "-at", ending: "--a", ran: "-A----T" },
  ],
  [
    "supersedes a tick that waits by the next one, so that the run which ends for it leads on to that",
    keys("cancel", { ticksWait: true }),
    { items: "-atu", ending: "--a", superseded: "---t", ran: "-A----U" },
  ],
])("a queue with keys %s", (_does, limits, drawing) => expectQueue(limits, { ...drawing, more }));

test("a queue with keys counts adopted runs, and ends them for newer work", () => {
  const adopted = createKeyedRun({ id: "z", key: "1", isRetry: false, isLate: false });
  const beside = { more: (): More => ({ ...more(), beside: () => [adopted] }) };
  expectQueue(keys("cancel"), { items: "-xa", ran: "-X", ending: "--z", ...beside });
  expect(adopted.supersededBy$.value).toBe("a");
});

test("a queue starts no item of a session key beside a live run that it did not start", () => {
  const beside = { more: (): More => ({ ...more(), sessionsBeside: () => ["s"] }) };
  const limits = { size: 9, scale: 9, mode: "open", hasSessions: true } as const;
  expectQueue(limits, { items: "-vn", queued: "-v", ran: "--N", ...beside });
});

test("a tick waits for its agent's own runners, at most one of a schedule, if ticks wait", () => {
  const ticks = (): More => ({
    slots: createSlots(),
    isTick: (item) => "tuv".includes(item),
    isSameSchedule: (a, b) => (a === "v") === (b === "v"),
    mayWait: (item) => !"tuv".includes(item),
  });
  expectQueue(
    { size: 9, scale: 1, mode: "open", ticksWait: true },
    { items: "-atvu", skipped: "----t", ran: "-A----U----V", more: ticks },
  );
});
