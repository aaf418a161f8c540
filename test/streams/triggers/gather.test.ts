import type { Debounce } from "../../../streams/agent-config.ts";
import { createClock } from "../../../streams/clock.ts";
import { createGatherings, type Gathering } from "../../../streams/triggers/gather.ts";
import { drive } from "../../../src/foundation/drive.ts";
import { VirtualCalendar } from "../../helpers/marbles.ts";

const debounce: Debounce = { key: null, quietMs: 4_000, mostMs: 7_000, deliver: "latest" };
const start = Date.parse("2026-05-04T09:00:00Z");

interface Life {
  /** A column is a second: a digit stores that many deliveries of a key, 0 none; `-` lets time pass. */
  readonly a?: string;
  readonly b?: string;
  /** When the clock is set, in seconds since the start, and by how many seconds. */
  readonly jump?: readonly [at: number, by: number];
  /** When `[debounce]` is edited, in seconds. */
  readonly edit?: readonly [at: number, debounce: Debounce | null];
  /** Arrival of the first stored deliveries, in seconds since the start. */
  readonly since?: number;
}

/** A machine over stored rows; returns what it emits, a line of columns for each key, and its reports. */
function lived({ a = "", b = "", jump, edit, since = 0 }: Life, columns = 20) {
  const calendar = new VirtualCalendar("2026-05-04T09:00:00Z");
  const clock = createClock(calendar);
  let now: Debounce | null = debounce;
  const rows = new Map<string, Pick<Gathering, "agent" | "key" | "since">>();
  const due = new Map<string, string[]>();
  const reports: string[] = [];
  const column = { now: 0 };
  const machine = createGatherings(() => now);
  const driver = drive(machine, clock, (event) => {
    if (event.type === "gathering") {
      const { deliveries = 0, startsAt = calendar.now() } = event.gathering ?? {};
      return reports.push(`${deliveries} in ${(startsAt - calendar.now()) / 1000}`);
    }
    rows.delete(event.key);
    return (
      due.get(event.key) ?? due.set(event.key, Array<string>(columns).fill("-")).get(event.key)
    )?.splice(column.now, 1, "d");
  });
  clock.earlier$.subscribe(() => driver.apply({ type: "set-back" }));
  const store = (key: string, mark = "-"): void => {
    if (mark === "-") return;
    const first = calendar.now() + since * 1000;
    const known = rows.get(key) ?? { agent: "dev", key, since: first };
    const last = Math.max(known.since, calendar.now());
    const gathering = { ...known, last, count: Number(mark) };
    if (mark === "0") rows.delete(key);
    else rows.set(key, gathering);
    driver.apply({ type: "stored", gathering });
  };
  let set = 0;
  for (column.now = 0; column.now < columns; column.now++) {
    calendar.runUntil(new Date(start + (column.now + set) * 1000).toISOString());
    if (column.now === jump?.[0]) {
      set = jump[1];
      calendar.jump(set * 1000);
    }
    if (column.now === edit?.[0]) {
      now = edit[1];
      driver.apply({ type: "agent", agent: "dev" });
    }
    store("a", a[column.now]);
    store("b", b[column.now]);
  }
  return { due: (key: string) => due.get(key)?.join("") ?? "", reports };
}

describe("gathering deliveries", () => {
  test.each<[does: string, life: Life, due: string]>([
    ["start their run once none came for `quiet`", { a: "1-2" }, "------d-------------"],
    ["start it at the latest `most` after the first", { a: "12345678" }, "-------d---d--------"],
    ["start one run for each time they gather", { a: "1-------1" }, "----d-------d-------"],
    ["start no run once all of them were taken", { a: "1-0" }, ""],
    ["start at once if they are overdue", { a: "1", since: -60 }, "-d------------------"],
    ["keep their first arrival over a restart", { a: "1", since: -5 }, "--d-----------------"],
    ["are reset to now if they lie in the future", { a: "1", since: 3600 }, "----d---------------"],
    [
      "follow a shorter `quiet` at once",
      { a: "1", edit: [1, { ...debounce, quietMs: 2_000 }] },
      "--d-----------------",
    ],
    [
      "start at once when `[debounce]` is removed",
      { a: "1", edit: [2, null] },
      "---d----------------",
    ],
    [
      "start at once when the clock is set forward",
      { a: "1", jump: [1, 3600] },
      "----d---------------",
    ],
  ])("%s", (_does, life, due) => {
    expect(lived(life).due("a")).toBe(due);
  });

  test.each([-60, -3_500, -7_200])(
    "wait at most `most` again when the clock is set back by %i s",
    (by) => {
      const columns = 60;
      const at = lived({ a: "1-2", jump: [3, by] }, columns)
        .due("a")
        .indexOf("d");
      // The clock notices that within half a minute.
      expect(at).toBeGreaterThan(3);
      expect(at).toBeLessThanOrEqual(3 + 30 + 7);
    },
  );

  test("that keep coming start at most `most` after the clock was set back", () => {
    const due = lived({ a: "1".repeat(20), jump: [3, -3_600] }).due("a");
    expect(due.indexOf("d")).toBe(3 + 7);
  });

  test("of several keys start a run each", () => {
    const { due } = lived({ a: "1-2", b: "-1" });
    expect([due("a"), due("b")]).toEqual(["------d-------------", "-----d--------------"]);
  });

  test("are reported as a number with the start of the first run, and once none is left", () => {
    const { reports } = lived({ a: "1-2", b: "-3" });
    expect(reports).toEqual(["1 in 4", "4 in 3", "5 in 3", "2 in 1", "0 in 0"]);
  });
});
