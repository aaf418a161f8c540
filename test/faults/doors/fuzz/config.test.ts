import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import fc from "fast-check";
import { readAgent } from "../../../../src/foundation/config/agent-files.ts";
import { loadProject } from "../../../../src/foundation/config/resolve-project.ts";
import { resolveAgent } from "../../../../src/foundation/config/resolve-agent.ts";
import { Problem } from "../../../../src/foundation/errors.ts";
import { knownToAgents } from "../../../../src/runtime/agents/project-files.ts";
import { filterTable } from "../../../../src/features/webhooks/providers/table.ts";
import { sampleAgents, sampleProjects, sampleSchemas, sampleSkills } from "./samples.ts";
import { lines, mutated, quick, share } from "./share.ts";
import { perFile } from "../../../helpers/per-test.ts";
import { copyProject } from "../../../helpers/scheduler.ts";

const toml = [
  ...lines`=
[
]
[[
]]
{
}
"
'
"""
'''
\u0000
\U0010FFFF
#
nan
inf
-inf
1e400
99999999999999999999
-1
0.5
0x7fffffffffffffff
1979-05-27T07:32:00Z
07:32:00
true
[]
{}
""
[[[]]]
{a={a={a=1}}}
__proto__ = 1
[__proto__]
[constructor]
constructor.prototype.x = 1
[models.__proto__]
[webhooks.constructor]
params.__proto__.x = 1
script = "../../../../etc/passwd"
run_as = "root; id"
run_as = "-u root"
scale = 1e9`,
  "\r",
  "\0",
  "\ufeff",
  "[".repeat(2000),
  `a = ${"[".repeat(3000)}${"]".repeat(3000)}`,
  `a = ${"{b=".repeat(800)}1${"}".repeat(800)}`,
  `${"a.".repeat(2000)}b = 1`,
  `x = "${"y".repeat(60_000)}"`,
  "[a]\n".repeat(3),
];
const json = [
  ...lines`{
}
[
]
:
,
"
null
1e400
-
\u0000
"__proto__": 1,
"$ref": "#",
"$ref": "https://a.example/x",
"$id": "x:y",
"pattern": "(a+)+$",
"pattern": "(",
"$dynamicRef": "#a",
"$anchor": "a",
"type": "objekt",
"not": {},`,
  "\ufeff",
  `"not": ${'{"not":'.repeat(3000)}{}${"}".repeat(3000)},`,
  `"enum": [${"1,".repeat(9000)}2],`,
];
/** Aliases that multiply. */
const alias = (name: string, of: string) => `${name}: &${name} [${`${of},`.repeat(8)}${of}]\n`;
const yaml = [
  ...lines`---
---js
---toml
...
:
- 
? 
|
>
&a
*a
<<: *a
!!js/function
!!binary
!!python/object/apply:os.system
!<tag:yaml.org,2002:js/undefined> x
%YAML 9
__proto__: 1
constructor: {prototype: {x: 1}}
name: [
name: {a: b}
name: 1e400
name: 2001-01-01
name: ~
compatibility: '>=99'`,
  "\t",
  "\0",
  `compatibility: "${"^1 ".repeat(400)}"`,
  "xabcde"
    .split("")
    .map((of, n) => alias("abcdef".charAt(n), n ? `*${of}` : of))
    .join("") + "name: [*f,*f,*f]",
  `name: ${"[".repeat(1500)}`,
  `name: ${"{a: ".repeat(500)}`,
  "!`echo x`",
  "name: \u202eevil",
];

const example = perFile(
  () => copyProject("examples/alerts"),
  (made) => made.remove(),
);
const dir = () => example().dir;
const project = perFile(async () => (await loadProject(dir(), filterTable)).project);

/** Why the project is rejected. */
async function problemsOfProject(): Promise<readonly string[]> {
  try {
    await loadProject(dir(), filterTable);
    return [];
  } catch (error) {
    expect(error).toBeInstanceOf(Problem);
    return [(error as Problem).message];
  }
}

/** Why its agent is rejected, with the file of each problem. */
async function problemsOfAgent(): Promise<readonly string[]> {
  const files = await readAgent(dir(), "orders");
  if (files === null) throw new Error("the agent is gone");
  const change = resolveAgent(files, project(), knownToAgents());
  if (change.type === "set") return [];
  expect(change.type).toBe("invalid");
  expect(change.problems.length).toBeGreaterThan(0);
  return change.problems.map(({ file, message }) => `${file}: ${message}`);
}

const ofAgent = "agents/orders";

test.each([
  ["the project's config.toml", "config.toml", sampleProjects, toml, 1_500, problemsOfProject],
  ["an agent's config.toml", `${ofAgent}/config.toml`, sampleAgents, toml, 2_000],
  ["the schema of an agent's results", `${ofAgent}/order.schema.json`, sampleSchemas, json, 800],
  ["a SKILL.md and its front matter", `${ofAgent}/SKILL.md`, sampleSkills, yaml, 1_500],
] as const)(
  "random text is accepted or rejected with a reason as %s",
  async (...row) => {
    const [, path, samples, scraps, inputs, problemsOf = problemsOfAgent] = row;
    const file = join(dir(), path);
    const before = await readFile(file);
    onTestFinished(() => writeFile(file, before));
    await fc.assert(
      fc.asyncProperty(mutated(samples, scraps), async (text) => {
        await writeFile(file, text);
        // One that takes longer keeps the scheduler from everything else.
        const problems = await quick(problemsOf, 5_000);
        if (samples === sampleSchemas || samples === sampleProjects)
          for (const problem of problems) expect(problem).toContain(path);
        expect(Object.keys(Object.prototype)).toEqual([]);
      }),
      share(inputs),
    );
  },
  180_000,
);
