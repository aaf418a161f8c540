import { appendFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { LogPageQuery } from "../../../src/foundation/logs/log-query.ts";
import { readLogPage } from "../../../src/foundation/logs/log-page.ts";
import { createLogSource } from "../../../src/foundation/logs/log-source.ts";
import { dayMs, entry, logPath, noon, tempProject, tempWriter, writeLines } from "./support.ts";

const all: LogPageQuery = {
  agent: "dev",
  instanceId: null,
  filter: { level: 10, text: "" },
  lines: 100,
  from: { before: null },
};

/** Page after page back to the beginning: the lines, oldest first, and how far each page reached. */
async function walk(project: string, query: Partial<LogPageQuery>, scanBytes?: number) {
  const found: string[] = [];
  const reached: (number | null)[] = [];
  let before: string | null = null;
  do {
    const page = await pageOf(project, { ...query, from: { before } }, scanBytes);
    found.unshift(...page.lines.map((line) => line.entry.msg));
    reached.push(page.reachedAt);
    before = page.older;
  } while (before !== null);
  return { found, reached };
}

function pageOf(project: string, query: Partial<LogPageQuery> = {}, scanBytes?: number) {
  return readLogPage(join(project, ".al", "logs"), { ...all, ...query }, scanBytes);
}

async function messages(project: string, query: Partial<LogPageQuery> = {}): Promise<string[]> {
  return (await pageOf(project, query)).lines.map((line) => line.entry.msg);
}

const text = (wanted: string, level = 10) => ({ filter: { level, text: wanted } });

/** Two days of numbered lines: 0 to 9, then 10 to 19. */
function twoDays(): string {
  const project = tempProject();
  const line = (number: number) => entry(`<${number}>`, { time: noon + number });
  const numbers = Array.from({ length: 20 }, (_, number) => line(number));
  writeLines(logPath(project, "dev", "2026-11-20"), numbers.slice(0, 10));
  writeLines(logPath(project), numbers.slice(10));
  writeLines(logPath(project, "ops"), [entry("of another agent", { agent: "ops" })]);
  return project;
}

test("reading a log backward page by page reaches the first line over days, without gaps or repeats", async () => {
  const { found, reached } = await walk(twoDays(), { lines: 3 });
  expect(found).toEqual(Array.from({ length: 20 }, (_, number) => `<${number}>`));
  expect(reached).toHaveLength(7);
});

test("a page of a log can contain the lines before or after a given position", async () => {
  const project = twoDays();
  const ids = (await pageOf(project)).lines.map(({ id }) => id);
  const before = ids[7] ?? "";
  expect(await messages(project, { lines: 2, from: { before } })).toEqual(["<6>", "<7>"]);
  const after = await pageOf(project, { lines: 4, from: { after: before } });
  expect(after.lines.map((line) => line.entry.msg)).toEqual(["<8>", "<9>", "<10>", "<11>"]);
  expect(after).toMatchObject({ older: before, newer: ids[11], atEnd: false });
  const rest = await pageOf(project, { from: { after: after.newer ?? "" } });
  expect(rest).toMatchObject({ newer: ids[19], atEnd: true });
  expect(rest.lines).toHaveLength(8);
});

test("searching a log page finds text in everything that a line shows, ignoring case", async () => {
  const project = tempProject();
  const writer = tempWriter(project);
  const write = (msg: string, fields = {}) =>
    writer.write(entry(msg, { instanceId: "dev-abcdefgh", ...fields }));
  write("ü plain Needle");
  write("tool", { kind: "tool", tool: "bash", input: { command: 'grep "a\\b"\nneedle' } });
  write("result", { kind: "tool-result", output: "\u001b[31mnee\u001b[0mdle", isError: false });
  write("started", { trigger: { title: "ÜBER needle 7", number: 4711 } });
  write("\u212aelvin");
  write("other");
  await writer.flush();
  expect(await messages(project, text("kelvin"))).toEqual(["\u212aelvin"]);
  expect(await messages(project, text("NEEDLE"))).toEqual([
    "ü plain Needle",
    "tool",
    "result",
    "started",
  ]);
  expect(await messages(project, text("über"))).toEqual(["started"]);
  expect(await messages(project, text('"a\\b"'))).toEqual(["tool"]);
  expect(await messages(project, text("4711"))).toEqual(["started"]);
  // What all lines of a run have in common, and the names of fields, are not what a reader sees.
  for (const common of ["dev-abcdefgh", "level", "trigger", '"msg":'])
    expect(await messages(project, text(common))).toEqual([]);
});

test("a level filter of a log page keeps lines of this level and above", async () => {
  const project = tempProject();
  const levels = [20, 30, 40, 50, 60] as const;
  writeLines(
    logPath(project),
    levels.map((level) => entry(`${level}`, { level })),
  );
  expect(await messages(project, text("", 40))).toEqual(["40", "50", "60"]);
  expect(await messages(project, text("5", 40))).toEqual(["50"]);
});

test("a long scan of a log stops at a limit, returns its position, and can continue from there", async () => {
  const { found, reached } = await walk(twoDays(), text("<2>"), 400);
  expect(found).toEqual(["<2>"]);
  expect(reached.length).toBeGreaterThan(2);
  expect(reached.at(-1)).toBe(noon);
  expect(reached).toEqual(reached.toSorted((a, b) => Number(b) - Number(a)));
});

test("a page of a run's log finds lines of any age, and stops at the run's first line", async () => {
  const project = twoDays();
  const mine = { instanceId: "dev-aaaaaaaa" };
  const dates = ["2026-11-17", "2026-11-18", "2026-11-19"];
  for (const [days, date] of dates.entries())
    writeLines(logPath(project, "dev", date), [
      ...(days === 0 ? [] : [entry(`run ${days}`, { ...mine, time: noon - 3 * dayMs })]),
      entry("of no run"),
    ]);
  const page = await pageOf(project, mine, 400);
  expect(page.lines.map((line) => line.entry.msg)).toEqual(["run 1", "run 2"]);
  expect(page.older).toBeNull();
  expect((await pageOf(project, { ...mine, ...text("no such") })).older).toBeNull();
});

test("a log page is empty if the file at its position is gone, or the log is missing", async () => {
  const project = twoDays();
  const [first] = (await pageOf(project)).lines;
  rmSync(logPath(project, "dev", "2026-11-20"));
  const none = { lines: [], older: null };
  expect(await pageOf(project, { from: { before: first?.id ?? "" } })).toMatchObject(none);
  expect(await pageOf(project, { from: { before: "../../etc/passwd:0" } })).toMatchObject(none);
  // The position of another agent is none of this one.
  expect(await pageOf(project, { from: { before: "ops-2026-11-21.log:0" } })).toMatchObject(none);
  expect(await pageOf(tempProject())).toMatchObject({ ...none, newer: null, atEnd: true });
});

test("following a log continues from the end of a page, also if the file ends with an incomplete line", async () => {
  const project = twoDays();
  appendFileSync(logPath(project), '{"level":30,"ti');
  const page = await createLogSource(project).page({ ...all, ...text("<3>") });
  const rest = `me":${noon},"agent":"dev","msg":"late"}\n`;
  appendFileSync(logPath(project), rest);
  expect(await messages(project, { from: { after: page.newer ?? "" } })).toEqual(["late"]);
});

test("a filter of a log page skips an endlessly nested line", async () => {
  const project = tempProject();
  const deep = `${"[".repeat(3_800)}"needle"${"]".repeat(3_800)}`;
  const head = `{"level":30,"time":${noon},"agent":"dev"`;
  writeLines(logPath(project), []);
  appendFileSync(logPath(project), `${head},"msg":"deep","output":${deep}}\n`);
  appendFileSync(logPath(project), `${head},"msg":"a needle"}\n`);
  expect(await messages(project, text("needle"))).toEqual(["a needle"]);
});

test("filtering a log page skips parts without a match, and finds every match between them", async () => {
  const project = tempProject();
  const filler = "x".repeat(2_000);
  const isMatch = (number: number) => number % 97 === 0;
  const lines = Array.from({ length: 1_000 }, (_, number) =>
    entry(`${isMatch(number) ? "Needle" : "hay"} ${number} ${filler}`, {
      time: noon + number,
      level: number % 100 === 3 ? 50 : 30,
      instanceId: number < 30 ? "dev-aaaaaaaa" : "dev-bbbbbbbb",
    }),
  );
  writeLines(logPath(project), lines);
  const numbersOf = (found: readonly string[]) => found.map((msg) => Number(msg.split(" ")[1]));
  const expected = lines.flatMap((_, number) => (isMatch(number) ? [number] : []));
  expect(numbersOf(await messages(project, text("needle")))).toEqual(expected);
  expect(numbersOf(await messages(project, text("", 50)))).toEqual(
    Array.from({ length: 10 }, (_, hundred) => 100 * hundred + 3),
  );
  const ofRun = { instanceId: "dev-aaaaaaaa", lines: 5 };
  expect(numbersOf(await messages(project, ofRun))).toEqual([25, 26, 27, 28, 29]);
  // Each part goes on where the one before it ended.
  const { found } = await walk(project, text("needle"), 100_000);
  expect(numbersOf(found)).toEqual(expected);
});
