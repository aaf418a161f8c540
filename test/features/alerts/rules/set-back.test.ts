import { describe, expect, it } from "vitest";
import type { AlertCommand } from "../../../../src/features/alerts/rules/alert-command.ts";
import { eventsOf } from "../../../streams/status/events.ts";
import { aTarget, defaultOptions, ended, runEvent, set, timeline } from "./alerts.ts";
import type { Timeline } from "./alerts.ts";

const [minute, hour, day] = [60_000, 3_600_000, 86_400_000];
const far = 30_000 * day;
const changed: AlertCommand = { type: "options-changed" };
const dropped = runEvent(eventsOf("dev").refused("dropped", "queue_full"));
const optionsOf = () => ({ ...defaultOptions, remindMs: day });

/** A scheduler whose clock is far ahead, until it is right at 0. */
function ahead(): Timeline {
  return timeline({ startedAt: far, optionsOf });
}

/** What was sent after the clock was right. */
function sentLate(line: Timeline): readonly string[] {
  return line.sent().filter((one) => Number(one.split(" ")[0]) < far);
}

describe("when the clock is set back by years", () => {
  it("what has not settled does so a minute later", () => {
    const line = ahead();
    line.at(far, set("dev"), { type: "project-config", error: "no" });
    line.at(0, changed);
    line.at(2 * minute);
    expect(sentLate(line)).toEqual([`${minute} ops project config opened 1`]);
  });

  it("what lasts is repeated in time", () => {
    const line = ahead();
    line.at(far, set("dev"), ended("dev"));
    line.at(0, changed);
    line.at(day);
    expect(sentLate(line)).toEqual([`${day} ops dev runs reminder 1`]);
    expect(line.rules.open()).toMatchObject([{ since: 0 }]);
  });

  it("what happens is alerted within an hour, and once an hour", () => {
    const line = ahead();
    line.at(far, set("dev"), dropped);
    line.at(0, changed);
    line.at(1, dropped, dropped);
    line.at(5 * hour);
    expect(sentLate(line)).toEqual([`${hour} ops dev dead_letters opened 2`]);
    expect(line.states()).toEqual([]);
  });

  it("so it is after a restart", () => {
    const first = ahead();
    first.at(far, set("dev"), dropped, ended("dev"));
    const line = timeline({ states: first.states(), optionsOf });
    line.at(0, changed, set("dev"), dropped);
    line.at(day);
    expect(sentLate(line)).toEqual([
      `${hour} ops dev dead_letters opened 1`,
      `${day} ops dev runs reminder 1`,
    ]);
  });

  it("a digest of an earlier scheduler takes what comes, and is sent soon", () => {
    const many = Array.from({ length: 7 }, (_, index) => ended(`a${index}`));
    const targets = () => [aTarget("ops")];
    const first = timeline({ startedAt: far, targets });
    first.at(far, ...many);
    const line = timeline({ states: first.states(), targets });
    line.at(0, changed);
    expect(line.sent()).toEqual([`${minute} ops project digest opened 2`]);
  });
});
