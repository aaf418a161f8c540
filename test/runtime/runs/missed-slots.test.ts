import { missedSpans, slotsToStart } from "../../../src/runtime/runs/missed-slots.ts";
import type { OffSpan, RefusedSlot } from "../../../src/foundation/store/slots.ts";
import type { TickSlot } from "../../../streams/vocabulary.ts";
import { anAgent } from "../../helpers/agents.ts";

const hourMs = 3_600_000;
const start = Date.parse("2026-05-04T00:00:00Z");
const at = (hour: number): number => start + hour * hourMs;
const slot = (hour: number): TickSlot => ({ schedule: "", at: at(hour) });
const hours = (slots: readonly TickSlot[]) => slots.map((one) => (one.at - start) / hourMs);
const dev = { name: "dev", config: anAgent("dev", { schedule: "0 * * * *" }) };

interface Known {
  readonly started?: readonly TickSlot[];
  readonly refused?: readonly RefusedSlot[];
  readonly offSpans?: readonly OffSpan[];
  readonly knownSince?: number;
}

function slotsOf({ started = [], refused = [], offSpans = [], knownSince = 0 }: Known) {
  return {
    started: (_agent: string, from: number, to: number) =>
      started.filter((one) => from <= one.at && one.at <= to),
    refused: () => refused,
    offSpans: () => offSpans,
    knownSince: () => knownSince,
  };
}

test("missedSpans has a row for each pause and each time in which the agent was disabled, without overlaps and started runs", () => {
  const offSpans = [
    { agent: null, since: at(1.5), until: at(4.5) },
    { agent: "dev", since: at(3.5), until: at(6.5) },
    { agent: null, since: at(9.1), until: at(9.9) },
    { agent: null, since: at(10), until: null },
  ];
  const slots = slotsOf({ offSpans, started: [slot(2)] });
  const rows = missedSpans(dev, slots, 0, at(12.5));
  expect(
    rows.map(({ firstAt, count, reason }) => [
      hours([{ schedule: "", at: Date.parse(firstAt) }])[0],
      count,
      reason,
    ]),
  ).toEqual([
    [2, 2, "schedules were paused"],
    [5, 2, "the agent was disabled"],
    [10, 3, "schedules were paused"],
  ]);
  expect(rows.at(-1)?.until).toBe(null);
  expect(missedSpans({ name: "dev", config: null }, slots, 0, at(12))).toEqual([]);
});

test("slotsToStart returns the due times of a range that did not start, each with its reason", () => {
  const slots = slotsOf({
    started: [slot(2)],
    refused: [{ ...slot(3), reason: "skipped: all runners are busy" }],
    offSpans: [{ agent: "dev", since: at(3.5), until: at(4.5) }],
  });
  const found = slotsToStart(dev, { since: at(1), until: at(5) }, slots);
  expect(hours(found)).toEqual([1, 3, 4, 5]);
  expect(found.map(({ reason }) => reason)).toEqual([
    null,
    "skipped: all runners are busy",
    "the agent was disabled",
    null,
  ]);
});

test.each([
  ["an agent without a schedule", {}, { config: anAgent("dev") }, /^agent "dev" has no schedule$/],
  ["an unknown schedule", { schedule: "nightly" }, {}, /^agent "dev" has no schedule nightly$/],
  ["a time before the history", { since: at(-1) }, {}, /the history begins then$/],
  ["more runs than a backfill may start", { until: at(600) }, {}, /^more than 500 runs of dev/],
])("slotsToStart refuses %s", (_what, range, agent, message) => {
  const slots = slotsOf({ knownSince: start });
  const whole = { since: start, until: at(5), ...range };
  expect(() => slotsToStart({ ...dev, ...agent }, whole, slots)).toThrow(message);
});
