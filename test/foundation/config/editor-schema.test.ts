import {
  agentJsonSchema,
  projectJsonSchema,
  timezoneNames,
} from "../../../src/foundation/config/json-schema.ts";
import { filterTable } from "../../../src/features/webhooks/providers/table.ts";
import { globSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { Ajv2020 } from "ajv/dist/2020.js";
import fc from "fast-check";
import { parse } from "smol-toml";
import { schedulePattern, scheduleProblem } from "../../../src/foundation/config/schedule.ts";
import { isTimezone } from "../../../src/foundation/config/fields.ts";
import { agentChange, projectChange } from "./samples.ts";

// A key that one of several rules requires is described beside them.
const strict = { strict: true, strictRequired: false, allowUnionTypes: true } as const;
const ajv = new Ajv2020({ ...strict, validateFormats: false });
const ofAgent = ajv.compile(agentJsonSchema(filterTable));
const ofProject = ajv.compile(projectJsonSchema(filterTable));

const start = 'models = ["main"]\ncredentials = []\n';
const hub = '[[webhooks]]\nsource = "hub"\n';

test.each([
  ['schedule = "0 24 * * *"', false],
  ['schedule = "0 9 * * *"\ntimezone = "+02:00"', false],
  ["callable = false", false],
  ['callable = true\ntags = ["two words"]', false],
  ["webhooks = []", false],
  ['schedule = " @daily "', true],
  ["callable = true", true],
  ["scale = 0", true],
  [hub, true],
])("the editor's schema of an agent and al agree about %j: %s", (text, isValid) => {
  expect(agentChange(start + text).type).toBe(isValid ? "set" : "invalid");
  expect(ofAgent(parse(start + text))).toBe(isValid);
});

test.each([
  ['provider = "custom"\nmodel = "m"', false],
  ['provider = "custom"\nbaseUrl = "http://localhost:1"', false],
  ['provider = "anthropic"', false],
  ['provider = "scripted"', false],
  ['model = "m"', false],
  ['provider = "custom"\nmodel = "m"\nbaseUrl = "http://localhost:1"', true],
  ['provider = "anthropic"\nmodel = "m"', true],
  ['provider = "scripted"\nscript = "s.toml"', true],
])("the editor's schema of a project and al agree about a model with %j: %s", (text, isValid) => {
  expect(projectChange(`[models.m]\n${text}`).type).toBe(isValid ? "set" : "invalid");
  expect(ofProject(parse(`[models.m]\n${text}`))).toBe(isValid);
});

test("regular expressions in the editor's schema use no feature that some editors lack", () => {
  const found: string[] = [];
  JSON.stringify([ofAgent.schema, ofProject.schema], (key, value: unknown) => {
    if (key === "pattern" && typeof value === "string") found.push(value);
    return value;
  });
  expect(found.length).toBeGreaterThan(8);
  const odd = /\[(?:\\.|[^\\\][])+\[|\(\?[=!<]/;
  expect(found.filter((one) => odd.test(one))).toEqual([]);
});

const pattern = new RegExp(schedulePattern(), "u");
const parts = ["*", "?", "0", "5", "07", "23", "24", "31", "32", "59", "60", "L", "6L", "fri"];
const atom = fc.constantFrom(...parts, "JAN", "Sun", "1", "2");
// The parser takes the name of a day as a count, too: */fri. The editor may mark that.
const count = fc.constantFrom("0", "1", "5", "07", "60", "L", "");
const next = fc.oneof(
  fc.tuple(fc.constantFrom("-", ","), atom),
  fc.tuple(fc.constantFrom("/", "#"), count),
);
const more = fc.array(next, { maxLength: 3 });
const field = fc.tuple(atom, more).map(([first, rest]) => first + rest.flat().join(""));
const fields = fc.tuple(...[1, 2, 3, 4, 5].map(() => fc.oneof(fc.constant("*"), field)));

test("the schedule pattern of the editor's schema matches each schedule that al accepts", () => {
  const isTaken = (text: string) => scheduleProblem(text) !== null || pattern.test(text);
  fc.assert(
    fc.property(fields, (texts) => isTaken(texts.join(" "))),
    { numRuns: 5_000 },
  );
});

test.each([
  ["60 * * * *", "*/0 * * * *", "1- * * * *", "1,,2 * * * *", "*5 * * * *"],
  ["* 24 * * *", "* * 0 * *", "* * 32 * *", "* * * 13 *", "* * * foo *", "* * * * 8"],
  ["* * * * L", "* * * * mon#6", "0 0 9 * * *", "* * * *", "@Daily", "@hourly @daily", ""],
])("the schedule pattern of the editor's schema rejects %s, %s, %s, %s, %s …", (...texts) => {
  expect(texts.filter((text) => pattern.test(text))).toEqual([]);
});

test("the time zones in the editor's schema are valid and unique", () => {
  const names = timezoneNames();
  expect(names.filter((name) => !isTimezone(name))).toEqual([]);
  expect(new Set(names).size).toBe(names.length);
  const both = ["Asia/Calcutta", "Asia/Kolkata", "Europe/Kiev", "Europe/Kyiv", "GMT", "EST5EDT"];
  expect(names).toEqual(expect.arrayContaining([...both, "UTC", "Etc/UTC", "US/Eastern"]));
});

const examples = resolve(import.meta.dirname, "../../../examples");
const read = (file: string) => readFileSync(join(examples, file), "utf8");

test.each(globSync(["*/config.toml", "*/agents/*/config.toml"], { cwd: examples }))(
  "the example file %s names its JSON Schema and conforms to it",
  (file) => {
    const isOfAgent = file.includes("/agents/");
    const name = isOfAgent ? "../../.al/schema/agent.json" : ".al/schema/project.json";
    expect(read(file).startsWith(`#:schema ${name}\n`)).toBe(true);
    const meets = isOfAgent ? ofAgent : ofProject;
    expect(meets(parse(read(file))), ajv.errorsText(meets.errors)).toBe(true);
  },
);

const pages = ["../README.md", ...globSync("*/README.md", { cwd: examples })];
const snippets = pages.flatMap((page) =>
  [...read(page).matchAll(/^```toml\n([^]*?)^```$/gm)].map(([, text = ""]) => ({ page, text })),
);

test.each(snippets)("the snippet in $page is part of a valid config.toml: $text", ({ text }) => {
  const usual = { models: ["main"], credentials: [], schedule: "@daily" };
  const isOfAgent = ofAgent({ ...usual, ...parse(text) });
  expect(isOfAgent || ofProject(parse(text)), ajv.errorsText(ofProject.errors)).toBe(true);
});

test("the editor's schema of an agent knows the filters of every source, and marks unknown keys", () => {
  const usual = { models: ["main"], credentials: [] };
  const isValid = (key: string, value: unknown) =>
    ofAgent({ ...usual, webhooks: [{ source: "hub", [key]: value }] });
  expect(isValid("labels", ["a"])).toBe(true);
  expect(isValid("lables", ["a"])).toBe(false);
  expect(ofAgent({ ...usual, schedule: "@daily", shedule: "@daily" })).toBe(false);
});
