import { expect, test } from "vitest";
import { logFilesBetween } from "../../../src/foundation/logs/log-files.ts";

const at = (text: string): number => Date.parse(text);

test("a run's log files are those of its UTC days", () => {
  const names = (from: string, to: string) =>
    logFilesBetween("dev", at(from), at(to))?.map(({ name }) => name);
  expect(names("2026-11-22T23:59:00Z", "2026-11-22T23:59:59Z")).toEqual(["dev-2026-11-22.log"]);
  expect(names("2026-11-22T23:59:00Z", "2026-11-24T00:00:00Z")).toEqual([
    "dev-2026-11-22.log",
    "dev-2026-11-23.log",
    "dev-2026-11-24.log",
  ]);
  expect(names("2026-11-22T12:00:00Z", "2026-11-22T11:00:00Z")).toEqual(["dev-2026-11-22.log"]);
});

test("what is no agent's name, and a run of many days, is looked up in the directory", () => {
  expect(logFilesBetween("../dev", 0, 1)).toBeNull();
  expect(logFilesBetween("dev", at("2026-01-01T00:00:00Z"), at("2026-11-01T00:00:00Z"))).toBeNull();
  expect(logFilesBetween("dev", 0, Number.NaN)).toBeNull();
});
