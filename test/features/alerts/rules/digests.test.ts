import { describe, expect, it } from "vitest";
import { createAlertRules } from "../../../../src/features/alerts/rules/alert-rules.ts";
import type { AlertCommand } from "../../../../src/features/alerts/rules/alert-command.ts";
import type { Alert } from "../../../../src/foundation/contracts/alert.ts";
import { aTarget, defaultOptions, ended, rulesDeps, set, timeline } from "./alerts.ts";
import type { Timeline } from "./alerts.ts";

const [second, minute, hour] = [1000, 60_000, 3_600_000];

const names = (count: number, prefix = "a"): readonly string[] =>
  Array.from({ length: count }, (_, index) => `${prefix}${index + 1}`);
const allFail = (agents: readonly string[], reason = "no answer from the model"): AlertCommand[] =>
  agents.map((agent) => ended(agent, "failed", reason));
const digestOf = (line: Timeline): Alert | undefined =>
  [...line.deliveries.values()].map(({ alert }) => alert).find(({ topic }) => topic === "digest");

describe("a storm", () => {
  it("begins with the sixth agent that has the same reason within a minute", () => {
    const line = timeline();
    line.at(0, ...allFail(names(5)));
    line.at(20 * second, ...allFail(["b"], "something else"));
    line.at(30 * second, ...allFail(["c1", "c2"]));
    line.at(59 * second, ...allFail(["c3"]));
    expect(line.sent()).toEqual([
      ...names(5).map((name) => `0 ops ${name} runs opened 1`),
      `${20 * second} ops b runs opened 1`,
      `${90 * second} ops project digest opened 3`,
    ]);
    expect(digestOf(line)).toMatchObject({
      agents: ["c1", "c2", "c3"],
      reason: "failed runs: 3 new (no answer from the model)",
      at: 59 * second,
      since: 30 * second,
    });
  });

  it("of one alert more is that alert, in the same minute", () => {
    const line = timeline();
    line.at(0, ...allFail(names(6)));
    expect(line.sent().at(-1)).toBe(`${minute} ops a6 runs opened 1`);
  });

  it("is over after a minute with less", () => {
    const line = timeline();
    line.at(0, ...allFail(names(6)));
    line.at(61 * second, ...allFail(["b"]));
    expect(line.sent().at(-1)).toBe(`${61 * second} ops b runs opened 1`);
  });

  it("goes on with one digest a minute", () => {
    const line = timeline();
    for (let at = 0; at < 4 * minute; at += second) line.at(at, ...allFail([`a${at}`]));
    const digests = line.sent().filter((text) => text.includes("digest"));
    expect(digests).toEqual([
      `${65 * second} ops project digest opened 60`,
      `${125 * second} ops project digest opened 60`,
      `${185 * second} ops project digest opened 60`,
      `${245 * second} ops project digest opened 55`,
    ]);
    expect(line.deliveries.size).toBe(5 + 4);
  });

  it("is what comes beyond twenty alerts of a minute, whatever they are", () => {
    const line = timeline();
    const reasons = "abcdefghijklmnopqrstuvwxy".split("");
    for (const word of reasons) line.at(0, ...allFail([`of-${word}`], `no ${word}`));
    const budget = { agent: null, window: "2026-11", percent: 80, usd: 8, limitUsd: 10 };
    line.at(1, { type: "budget", ...budget });
    expect(line.deliveries.size).toBe(20 + 1);
    expect(digestOf(line)).toMatchObject({
      count: 6,
      agents: ["of-u", "of-v", "of-w", "of-x", "of-y"],
      reason: "failed runs: 5 new; budgets: 1 new",
    });
  });

  it("of agents that recover is a digest, too", () => {
    const line = timeline();
    line.at(0, ...names(30).map(set), ...allFail(names(30)));
    line.at(hour, ...names(30).map((name) => ended(name, "succeeded")));
    const last = [...line.deliveries.values()].at(-1);
    expect(last?.alert).toMatchObject({
      topic: "digest",
      phase: "resolved",
      count: 25,
      reason: "failed runs: 25 resolved (no answer from the model)",
    });
  });

  it("goes to each target that its agents have", () => {
    const targets = () => [aTarget("ops"), aTarget("dev")];
    const optionsOf = (agent: string | null) =>
      agent?.startsWith("b") ? { ...defaultOptions, to: ["dev"] } : defaultOptions;
    const line = timeline({ targets, optionsOf });
    line.at(0, ...allFail(names(7)), ...allFail(names(3, "b")));
    const digests = line.sent().filter((text) => text.includes("digest"));
    expect(digests).toEqual([
      `${minute} ops project digest opened 2`,
      `${minute} dev project digest opened 5`,
    ]);
  });

  it("does not count what no target gets", () => {
    const silent = { ...defaultOptions, to: [] };
    const optionsOf = (agent: string | null) => (agent === "loud" ? defaultOptions : silent);
    const line = timeline({ optionsOf });
    line.at(0, ...allFail(names(50)), ...allFail(["loud"]));
    expect(line.sent()).toEqual(["0 ops loud runs opened 1"]);
  });

  it("is not held for as long as the clock is set back", () => {
    const line = timeline();
    line.at(9 * hour, ...allFail(names(7)));
    line.at(hour, ...allFail(["b"]));
    expect(line.sent().at(-1)).toBe(`${hour + minute} ops project digest opened 3`);
  });

  it("of 10,000 agents in a minute is five alerts and the digests, and keeps no more than these", () => {
    const rules = createAlertRules(rulesDeps());
    const agents = names(10_000, "agent-");
    const events = agents.flatMap((agent, index) =>
      rules.apply(ended(agent, "failed", `no answer from ${agent} in ${index} ms`), index * 6),
    );
    const deliveries = events.flatMap((event) => event.deliveries);
    const states = events.flatMap((event) => event.states);
    const lengths = [...deliveries, ...states].map((one) => JSON.stringify(one).length);
    const ids = new Set(deliveries.map(({ id }) => id));
    expect(ids.size).toBe(5 + 1);
    expect(deliveries.at(-1)?.alert.count).toBe(9_995);
    expect(Math.max(...lengths)).toBeLessThan(2_000);
  });
});

describe("quiet hours", () => {
  const quietHours = { from: 22 * 60, until: 7 * 60 };
  const targets = () => [aTarget("ops", { quietHours }), aTarget("log")];
  const evening = 22 * hour;
  const morning = 31 * hour;
  const ofOps = (line: Timeline): readonly string[] =>
    line.sent().filter((text) => text.includes(" ops "));

  it("leave a single alert as it is, and other targets alone", () => {
    const line = timeline({ targets });
    line.at(evening, ...allFail(["dev"]));
    expect(line.sent()).toEqual([
      `${morning} ops dev runs opened 1`,
      `${evening} log dev runs opened 1`,
    ]);
  });

  it("make what comes one digest at their end", () => {
    const line = timeline({ targets });
    line.at(evening, ...allFail(["dev"]));
    line.at(evening + 2 * hour, ...allFail(["web"], "no disk"));
    line.at(evening + 3 * hour, ended("dev", "succeeded"));
    expect(ofOps(line)).toEqual([`${morning} ops project digest opened 3`]);
    expect(digestOf(line)).toMatchObject({
      agents: ["dev", "web"],
      reason: "failed runs: 2 new, 1 resolved",
    });
    line.at(morning, ...allFail(["doc"]));
    expect(ofOps(line).at(-1)).toBe(`${morning} ops doc runs opened 1`);
  });

  it("keep the digest of a storm that would be due in them", () => {
    const line = timeline({ targets });
    line.at(evening - 10 * second, ...allFail(names(7)));
    line.at(evening, ...allFail(["dev"], "no disk"));
    expect(ofOps(line).slice(-1)).toEqual([`${morning} ops project digest opened 3`]);
  });

  it("go on with the same digest after a restart", () => {
    const first = timeline({ targets });
    first.at(evening, ...allFail(["dev", "web"]));
    const startedAt = evening + hour;
    const second = timeline({ targets, startedAt, states: first.states(), newId: () => "new" });
    second.at(startedAt + minute, ...allFail(["doc"]));
    const [id] = [...first.deliveries].flatMap(([id, { target }]) =>
      target === "ops" ? [id] : [],
    );
    expect(second.deliveries.get(id ?? "")).toMatchObject({
      nextAt: morning,
      alert: { count: 3, agents: ["dev", "web", "doc"] },
    });
    second.at(morning);
    expect(second.states().filter(({ rule }) => rule.startsWith("digest:"))).toEqual([]);
  });

  it("that end earlier by a change of the config send their digest earlier", () => {
    let active = targets();
    const line = timeline({ targets: () => active });
    line.at(evening, ...allFail(["dev", "web"]));
    active = [aTarget("ops"), aTarget("log")];
    line.at(evening + hour, { type: "options-changed" });
    expect(ofOps(line)).toEqual([`${evening + hour + minute} ops project digest opened 2`]);
  });
});

it("an alert goes to the targets that its agent has now", () => {
  let to: readonly string[] | null = null;
  const targets = () => [aTarget("ops"), aTarget("dev")];
  const line = timeline({ targets, optionsOf: () => ({ ...defaultOptions, to }) });
  line.at(0, ended("dev"));
  to = ["dev"];
  line.at(1, set("dev"), ended("dev", "succeeded"));
  expect(line.sent()).toEqual([
    "0 ops dev runs opened 1",
    "0 dev dev runs opened 1",
    "1 dev dev runs resolved 1",
  ]);
});
