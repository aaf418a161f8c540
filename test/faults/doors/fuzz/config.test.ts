import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import fc from "fast-check";
import { readAgent } from "../../../../src/foundation/config/agent-files.ts";
import { loadProject } from "../../../../src/foundation/config/resolve-project.ts";
import type { ProjectConfig } from "../../../../src/foundation/config/project-config.ts";
import { resolveAgent } from "../../../../src/foundation/config/resolve-agent.ts";
import { UserError } from "../../../../src/foundation/errors.ts";
import { knownToAgents } from "../../../../src/interfaces/operations/project-files.ts";
import { filterTable } from "../../../../src/features/webhooks/providers/table.ts";
import {
  makeProject,
  sampleAgents,
  sampleProjects,
  sampleSchemas,
  sampleSkills,
} from "./samples.ts";
import { mutated, share } from "./share.ts";

/** A config that takes more processor time than this, in ms, keeps the scheduler from everything else. */
const maxMs = 5_000;
const toml = [
  "=",
  "[",
  "]",
  "[[",
  "]]",
  "{",
  "}",
  '"',
  "'",
  '"""',
  "'''",
  "\\u0000",
  "\\U0010FFFF",
  "#",
  "nan",
  "inf",
  "-inf",
  "1e400",
  "99999999999999999999",
  "-1",
  "0.5",
  "0x7fffffffffffffff",
  "1979-05-27T07:32:00Z",
  "07:32:00",
  "true",
  "[]",
  "{}",
  '""',
  "[[[]]]",
  "{a={a={a=1}}}",
  "__proto__ = 1",
  "[__proto__]",
  "[constructor]",
  "constructor.prototype.x = 1",
  "[models.__proto__]",
  "[webhooks.constructor]",
  "params.__proto__.x = 1",
  "\r",
  "\0",
  "\ufeff",
  'script = "../../../../etc/passwd"',
  'run_as = "root; id"',
  'run_as = "-u root"',
  "scale = 1e9",
  "[".repeat(2000),
  `a = ${"[".repeat(3000)}${"]".repeat(3000)}`,
  `a = ${"{b=".repeat(800)}1${"}".repeat(800)}`,
  `${"a.".repeat(2000)}b = 1`,
  `x = "${"y".repeat(60_000)}"`,
  "[a]\n".repeat(3),
];
const json = [
  "{",
  "}",
  "[",
  "]",
  ":",
  ",",
  '"',
  "null",
  "1e400",
  "-",
  "\\u0000",
  "\ufeff",
  '"__proto__": 1,',
  '"$ref": "#",',
  '"$ref": "https://a.example/x",',
  '"$id": "x:y",',
  '"pattern": "(a+)+$",',
  '"pattern": "(",',
  '"$dynamicRef": "#a",',
  '"$anchor": "a",',
  '"type": "objekt",',
  '"not": {},',
  `"not": ${'{"not":'.repeat(3000)}{}${"}".repeat(3000)},`,
  `"enum": [${"1,".repeat(9000)}2],`,
];
const yaml = [
  "---",
  "---js",
  "---toml",
  "...",
  ":",
  "- ",
  "? ",
  "|",
  ">",
  "&a",
  "*a",
  "<<: *a",
  "!!js/function",
  "!!binary",
  "!!python/object/apply:os.system",
  "!<tag:yaml.org,2002:js/undefined> x",
  "%YAML 9",
  "\t",
  "\0",
  "__proto__: 1",
  "constructor: {prototype: {x: 1}}",
  "name: [",
  "name: {a: b}",
  "name: 1e400",
  "name: 2001-01-01",
  "name: ~",
  "compatibility: '>=99'",
  `compatibility: "${"^1 ".repeat(400)}"`,
  "a: &a [x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b]\nd: &d [*c,*c,*c,*c,*c,*c,*c,*c]\ne: &e [*d,*d,*d,*d,*d,*d,*d,*d]\nf: &f [*e,*e,*e,*e,*e,*e,*e,*e]\nname: [*f,*f,*f,*f,*f,*f,*f,*f]",
  `name: ${"[".repeat(1500)}`,
  `name: ${"{a: ".repeat(500)}`,
  "!`echo x`",
  "name: \u202eevil",
];

let dir: string;
let project: ProjectConfig;
beforeAll(async () => {
  dir = await makeProject();
  ({ project } = await loadProject(dir, filterTable));
});
afterAll(() => rm(dir, { recursive: true, force: true }));

const pollution = () => Object.keys(Object.prototype);

async function timed<T>(work: () => Promise<T>): Promise<T> {
  const began = process.threadCpuUsage();
  const result = await work();
  expect(process.threadCpuUsage(began).user / 1000).toBeLessThan(maxMs);
  return result;
}

async function agentOf(): Promise<ReturnType<typeof resolveAgent>> {
  const files = await readAgent(dir, "dev");
  if (files === null) throw new Error("the agent is gone");
  return resolveAgent(files, project, knownToAgents());
}

test("any text is accepted or rejected with a reason as the project's config.toml", async () => {
  const path = join(dir, "config.toml");
  await fc.assert(
    fc.asyncProperty(mutated(sampleProjects, toml), async (text) => {
      await writeFile(path, text);
      await timed(async () => {
        try {
          await loadProject(dir, filterTable);
        } catch (error) {
          expect(error).toBeInstanceOf(UserError);
          expect((error as UserError).message).toMatch(/config\.toml/);
        }
      });
      expect(pollution()).toEqual([]);
    }),
    share(1_500),
  );
}, 180_000);

test("any text is accepted or rejected with a reason as an agent's config.toml", async () => {
  const path = join(dir, "agents/dev/config.toml");
  await fc.assert(
    fc.asyncProperty(mutated(sampleAgents, toml), async (text) => {
      await writeFile(path, text);
      const change = await timed(agentOf);
      expect(["set", "invalid"]).toContain(change.type);
      if (change.type === "invalid") expect(change.problems.length).toBeGreaterThan(0);
      expect(pollution()).toEqual([]);
    }),
    share(2_000),
  );
  await writeFile(path, sampleAgents[0] ?? "");
}, 180_000);

test("any text is accepted or rejected with a reason as the schema of an agent's results", async () => {
  const path = join(dir, "agents/dev/out.schema.json");
  const config = join(dir, "agents/dev/config.toml");
  await writeFile(config, `${sampleAgents[1] ?? ""}[expect]\nschema = "out.schema.json"\n`);
  await fc.assert(
    fc.asyncProperty(mutated(sampleSchemas, json), async (text) => {
      await writeFile(path, text);
      const change = await timed(agentOf);
      const problems = change.type === "invalid" ? change.problems : [];
      expect(problems.every(({ file }) => file === "agents/dev/out.schema.json")).toBe(true);
      expect(problems.length > 0).toBe(change.type === "invalid");
      expect(pollution()).toEqual([]);
    }),
    share(800),
  );
  await writeFile(config, sampleAgents[0] ?? "");
}, 180_000);

test("any config file is accepted or rejected with a reason, as a SKILL.md and its front matter", async () => {
  const path = join(dir, "agents/dev/SKILL.md");
  await fc.assert(
    fc.asyncProperty(mutated(sampleSkills, yaml), async (text) => {
      await writeFile(path, text);
      const change = await timed(agentOf);
      expect(["set", "invalid"]).toContain(change.type);
      expect(pollution()).toEqual([]);
    }),
    share(1_500),
  );
}, 180_000);
