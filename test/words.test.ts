import { globSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";

const root = resolve(import.meta.dirname, "..");

/** "what" in 1,000 lines of `src` and `streams`, at most. */
const whatLimit = 2.7;
/** Places in comments and test names that the grammar forbids, at most. */
const placesLimit = 176;

/** "what" in 1,000 lines of Markdown, at most; references from config keys and commands are among them. */
const whatInPagesLimit = 10;

interface Line {
  readonly place: string;
  readonly text: string;
}

function linesOf(pattern: string): readonly Line[] {
  return globSync(pattern, { cwd: root }).flatMap((file) =>
    readFileSync(join(root, file), "utf8")
      .split("\n")
      .map((text, index) => ({ place: `${file}:${index + 1}`, text })),
  );
}

const comment = /(?:^|\s)(?:\/\/|\/\*\*|\*)\s/;
const testName = /\b(?:it|test|describe)(?:\.\w+(?:\(.*?\))?)?\(\s*["`]/;
const forbidden = /\b(?:is|are) no (?!longer)|\bthere is none\b|\bnone of\b/i;
const badBeginning =
  /^\s*(?:\/\*\*|\/\/|\*)\s*(?:Of|What|Those|So long|By which|Whatever|Whoever|Its)\b/;

/** The name of a test without a `describe`, also behind a table of values, that begins with a verb. */
const withoutSubject =
  /^(?:(?:it|test)(?:\.\w+(?:\(.*?\))?)*|\].*\))\(\s*["`](?:is|are|has|have|does|do|keeps|shows|ends|rejects|refuses|leaves|gets|gives|finds|makes|prints|starts|waits|fails|may|can|can't|lets|reads|takes|removes|adds|never|sends|emits)\s/;

const named = /\b(describe|test)(?:\.\w+(?:\(.*?\))?)*\("([^"]*)"/;

/** A comment's first line, as a later line may begin with any word of its sentence. */
const beginsComment = (text: string, before: string): boolean =>
  /^\s*\/\*\*/.test(text) || (/^\s*\/\//.test(text) && !/^\s*\/\//.test(before));

test(`"what" stands in src and streams at most ${whatLimit} times in 1,000 lines`, () => {
  const lines = linesOf("{src,streams}/**/*.{ts,tsx}");
  const count = lines.reduce((sum, { text }) => sum + (text.match(/\bwhat\b/gi)?.length ?? 0), 0);
  expect(count).toBeLessThanOrEqual((lines.length / 1_000) * whatLimit);
});

test("comments and test names have a subject, a verb and no empty negation", () => {
  const lines = linesOf("{src,streams,test}/**/*.{ts,tsx}");
  const places = lines.filter(({ text }, index) => {
    const isProse = comment.test(text) || testName.test(text);
    const isBegun = beginsComment(text, lines[index - 1]?.text ?? "");
    return (isProse && forbidden.test(text)) || (isBegun && badBeginning.test(text));
  });
  expect(places.slice(placesLimit).map(({ place, text }) => `${place} ${text.trim()}`)).toEqual([]);
});

test("test names have a subject", () => {
  const lines = linesOf("test/**/*.{ts,tsx}").filter(({ text }) => withoutSubject.test(text));
  expect(lines.map(({ place, text }) => `${place} ${text.trim()}`)).toEqual([]);
});

test("test names do not repeat the name of their describe", () => {
  let outer = "";
  const repeated = linesOf("test/**/*.{ts,tsx}").filter(({ text }) => {
    const [, call = "", name = ""] = named.exec(text) ?? [];
    if (call === "describe" || /^\S/.test(text)) outer = call === "describe" ? name : "";
    return call === "test" && outer !== "" && name.startsWith(`${outer} `);
  });
  expect(repeated.map(({ place, text }) => `${place} ${text.trim()}`)).toEqual([]);
});

const pages = linesOf("{README,SECURITY,{examples,src,streams,test}/**/*}.md").map(
  ({ place, text }) => ({ place, text: text.replaceAll(/\]\([^)]*\)/g, "]") }),
);

test(`"what" stands in pages at most ${whatInPagesLimit} times in 1,000 lines`, () => {
  const count = pages.reduce((sum, { text }) => sum + (text.match(/\bwhat\b/gi)?.length ?? 0), 0);
  expect(count).toBeLessThanOrEqual((pages.length / 1_000) * whatInPagesLimit);
});

const odd =
  /\b(?:without it|what is more|goes before|counts from|is the time in which|for good|by itself)\b/i;

test("documents and texts of the program contain no forbidden phrase", () => {
  const ofProgram = linesOf("{src,streams}/**/*.{ts,tsx}").filter(
    ({ text }) => !comment.test(text),
  );
  const lines = [...pages, ...ofProgram].filter(({ text }) => odd.test(text));
  expect(lines.map(({ place, text }) => `${place} ${text.trim()}`)).toEqual([]);
});
