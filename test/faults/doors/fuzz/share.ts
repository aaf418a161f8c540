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

/** Expects some work to take less processor time than this, in ms. */
export async function quick<T>(work: () => T, maxMs = 3_000): Promise<Awaited<T>> {
  const began = process.threadCpuUsage();
  const result = await work();
  expect(process.threadCpuUsage(began).user / 1000).toBeLessThan(maxMs);
  return result;
}

/** The lines of a text as it stands, backslashes included. */
export function lines(text: TemplateStringsArray): readonly string[] {
  return text.raw.join("").split("\n");
}

/** What has broken parsers, routers and file systems before. */
export const nasty: readonly string[] = [
  ...lines`
 
.
..
/
//
\
%
%00
%zz
%2e%2e%2f
..%2f..%2f
../../../../etc/passwd
..\..\secret
/etc/passwd
file:///etc/passwd
~/.ssh
../../secret.log:0
scheduler-2026-11-21.log:0
dev-2026-11-21.log/../../../../secret.log:0
agents/../../secret
dev/../../secret.log
....//....//secret
dev.
__proto__
constructor
prototype
toString
hasOwnProperty
valueOf
null
undefined
NaN
-1
-0
0
1e400
0x10
9007199254740993
1.5
true
[]
{}
{"__proto__":{"x":1}}
[object Object]
$where
$(id)
' OR 1=1 --
"; DROP TABLE receipts; --
%' ESCAPE '
{{7*7}}
%s%n
<img src=x onerror=alert(1)>
</script><script>alert(1)</script>
javascript:alert(1)
é
𝒹𝑒𝓋
İ
ß
a;b
a,b
-dev
DEV
dev`,
  "`id`",
  "${7*7}",
  "\0",
  "dev\0.log",
  "\u202edev",
  "\ufeff",
  "\ud800",
  "e\u0301",
  "\u2028",
  "\x1b[2J",
  "\x1b]0;title\x07",
  "\r\nSet-Cookie: al_session=x",
  "a\nb",
  "a\tb",
  "x".repeat(5000),
  "../".repeat(200),
  "[".repeat(500),
  "a".repeat(63),
  "a".repeat(64),
];

export const nastyText = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom(...nasty) },
  fc.string({ unit: "binary", maxLength: 80 }),
  fc.string({ maxLength: 40 }),
  fc.tuple(fc.constantFrom(...nasty), fc.constantFrom(...nasty)).map((pair) => pair.join("")),
);

/** A place in a text or in bytes: 0 is its begin, 1 its end. */
export const part = fc.double({ min: 0, max: 1, noNaN: true });

const ways = ["flip", "cut", "double", "insert", "replace", "swap-line"] as const;

/** Takes valid text apart: bytes flipped, parts cut, doubled, swapped and replaced. */
export function mutated(
  samples: readonly string[],
  scraps: readonly string[],
): fc.Arbitrary<string> {
  const edit = fc.record({
    how: fc.constantFrom(...ways),
    at: part,
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
  readonly how: (typeof ways)[number];
  readonly at: number;
  readonly length: number;
  readonly scrap: string;
}

function applied(text: string, { how, at, length, scrap }: Edit): string {
  if (how === "swap-line") {
    const all = text.split("\n");
    all.splice(Math.floor(at * all.length), 1, scrap, all[length % all.length] ?? "");
    return all.join("\n");
  }
  const from = Math.floor(at * text.length);
  const part = text.slice(from, from + length);
  const flipped = (one: string) => String.fromCharCode(one.charCodeAt(0) ^ (1 << (length % 8)));
  const put = {
    flip: () => part.replace(/./su, flipped),
    cut: () => "",
    double: () => part + part,
    insert: () => scrap + part,
    replace: () => scrap,
  }[how]();
  return text.slice(0, from) + put + text.slice(from + length);
}
