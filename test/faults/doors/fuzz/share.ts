import fc from "fast-check";
import { isLong } from "../../../helpers/long.ts";

/** 5,000 inputs in all and 25,000 for the proxy; a million with `npm run test:long`. `AL_FUZZ` multiplies 20,000. */
const factor = Number(process.env.AL_FUZZ ?? (isLong ? 50 : 0.25));
/** `AL_FUZZ_SEED` repeats an earlier run. */
const seed = Number(process.env.AL_FUZZ_SEED ?? Math.trunc(Math.random() * 2 ** 31));

/** How many of the inputs a property gets, and from which seed; said where a failure is looked for. */
export function share(inputs: number): { numRuns: number; seed: number; verbose: boolean } {
  return { numRuns: Math.ceil(inputs * factor), seed, verbose: false };
}

process.stderr.write(`fuzz: AL_FUZZ_SEED=${seed} AL_FUZZ=${factor}\n`);

/** What has broken parsers, routers and file systems before. */
export const nasty: readonly string[] = [
  "",
  " ",
  ".",
  "..",
  "/",
  "//",
  "\\",
  "%",
  "%00",
  "%zz",
  "%2e%2e%2f",
  "..%2f..%2f",
  "\0",
  "../../../../etc/passwd",
  "..\\..\\secret",
  "/etc/passwd",
  "file:///etc/passwd",
  "~/.ssh",
  "../../secret.log:0",
  "scheduler-2026-11-21.log:0",
  "dev-2026-11-21.log/../../../../secret.log:0",
  "agents/../../secret",
  "dev/../../secret.log",
  "....//....//secret",
  "dev\0.log",
  "dev.",
  "__proto__",
  "constructor",
  "prototype",
  "toString",
  "hasOwnProperty",
  "valueOf",
  "null",
  "undefined",
  "NaN",
  "-1",
  "-0",
  "0",
  "1e400",
  "0x10",
  "9007199254740993",
  "1.5",
  "true",
  "[]",
  "{}",
  '{"__proto__":{"x":1}}',
  "[object Object]",
  "$where",
  "$(id)",
  "`id`",
  "' OR 1=1 --",
  '"; DROP TABLE receipts; --',
  "%' ESCAPE '",
  "${7*7}",
  "{{7*7}}",
  "%s%n",
  "<img src=x onerror=alert(1)>",
  "</script><script>alert(1)</script>",
  "javascript:alert(1)",
  "\u202edev",
  "\u0000",
  "\ufeff",
  "\ud800",
  "é",
  "e\u0301",
  "𝒹𝑒𝓋",
  "İ",
  "ß",
  "\u2028",
  "\x1b[2J",
  "\x1b]0;title\x07",
  "\r\nSet-Cookie: al_session=x",
  "a\nb",
  "a\tb",
  "a;b",
  "a,b",
  ..."x".repeat(5000).split(" "),
  "../".repeat(200),
  "[".repeat(500),
  "a".repeat(63),
  "a".repeat(64),
  "-dev",
  "DEV",
  "dev",
];

export const nastyText = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom(...nasty) },
  { weight: 1, arbitrary: fc.string({ unit: "binary", maxLength: 80 }) },
  { weight: 1, arbitrary: fc.string({ maxLength: 40 }) },
  {
    weight: 1,
    arbitrary: fc
      .tuple(fc.constantFrom(...nasty), fc.constantFrom(...nasty))
      .map((pair) => pair.join("")),
  },
);

/** Takes valid text apart: bytes flipped, parts cut, doubled, swapped and replaced. */
export function mutated(
  samples: readonly string[],
  scraps: readonly string[],
): fc.Arbitrary<string> {
  const edit = fc.record({
    how: fc.constantFrom("flip", "cut", "double", "insert", "replace", "swap-line"),
    at: fc.double({ min: 0, max: 1, noNaN: true }),
    length: fc.integer({ min: 1, max: 30 }),
    scrap: fc.oneof(
      fc.constantFrom(...scraps),
      fc.constantFrom(...nasty),
      fc.string({ unit: "binary", maxLength: 8 }),
    ),
  });
  return fc
    .tuple(fc.constantFrom(...samples), fc.array(edit, { minLength: 1, maxLength: 6 }))
    .map(([text, edits]) => edits.reduce(applied, text));
}

interface Edit {
  readonly how: string;
  readonly at: number;
  readonly length: number;
  readonly scrap: string;
}

function applied(text: string, { how, at, length, scrap }: Edit): string {
  const from = Math.floor(at * text.length);
  const part = text.slice(from, from + length);
  const [before, after] = [text.slice(0, from), text.slice(from + length)];
  switch (how) {
    case "flip":
      return (
        before +
        part.replace(/./su, (one) => String.fromCharCode(one.charCodeAt(0) ^ (1 << (length % 8)))) +
        after
      );
    case "cut":
      return before + after;
    case "double":
      return before + part + part + after;
    case "insert":
      return before + scrap + part + after;
    case "replace":
      return before + scrap + after;
    default: {
      const lines = text.split("\n");
      const index = Math.floor(at * lines.length);
      lines.splice(index, 1, scrap, lines[length % lines.length] ?? "");
      return lines.join("\n");
    }
  }
}
