import { execFileSync } from "node:child_process";
import { existsSync, globSync, readFileSync, statSync } from "node:fs";
import { dirname, join, normalize, resolve } from "node:path";
import { resolveAgent } from "../src/foundation/config/resolve-agent.ts";
import { resolveProject } from "../src/foundation/config/resolve-project.ts";
import { filterTable } from "../src/features/webhooks/providers/table.ts";
import { knownToAgents } from "../src/runtime/agents/project-files.ts";
import { agentFiles, said } from "./foundation/config/samples.ts";

const root = resolve(import.meta.dirname, "..");

const shipped = new Set(packedPaths());
/** Documents of the package, and those of the tests, which are in the repository only. */
const documents = [...shipped, ...globSync("test/**/*.md", { cwd: root })].filter((path) =>
  path.endsWith(".md"),
);

/** The files that `npm pack` would put into the package. */
function packedPaths(): string[] {
  const args = ["pack", "--dry-run", "--ignore-scripts", "--json"];
  const output = execFileSync("npm", args, { cwd: root, encoding: "utf8" });
  const [{ files }] = JSON.parse(output) as [{ files: { path: string }[] }];
  return files.map(({ path }) => path);
}

/** The relative links and pictures of a document, as written. */
function relativeLinks(text: string): string[] {
  const prose = text.replaceAll(/^```[^]*?^```$/gm, "");
  return [...prose.matchAll(/\]\(([^)\s]+)\)/g)]
    .map(([, target = ""]) => target)
    .filter((target) => !/^[a-z]+:/.test(target));
}

/** The anchors that headings of a document get. */
function anchorsOf(text: string): Set<string> {
  const headings = [...text.matchAll(/^#{1,6} (.+)$/gm)].map(([, heading = ""]) => heading);
  return new Set(
    headings.map((heading) =>
      heading
        .toLowerCase()
        .replaceAll(/[^\p{L}\p{N} _-]/gu, "")
        .replaceAll(" ", "-"),
    ),
  );
}

function read(path: string): string {
  return readFileSync(join(root, path), "utf8");
}

test("the README is a ten-minute read: at most 14 kB", () =>
  expect(statSync(join(root, "README.md")).size).toBeLessThanOrEqual(14_000));

test("the README links to every document", () => {
  const reached = new Set(["README.md"]);
  for (const path of reached) {
    for (const target of relativeLinks(read(path))) {
      const [file = ""] = target.split("#");
      const linked = normalize(join(dirname(path), file));
      if (documents.includes(linked)) reached.add(linked);
    }
  }
  expect(documents.filter((path) => !reached.has(path))).toEqual([]);
});

test.each(documents)(
  "every relative link of %s leads to a file of the package, a picture, or a file of the tests",
  (path) => {
    const text = read(path);
    for (const target of relativeLinks(text)) {
      const [file = "", anchor] = target.split("#");
      const linked = file === "" ? path : normalize(join(dirname(path), file));
      const isThere =
        shipped.has(linked) ||
        (/^(test|examples\/gallery)\//.test(linked) && existsSync(join(root, linked)));
      expect([target, isThere]).toEqual([target, true]);
      if (anchor === undefined) continue;
      expect([target, anchorsOf(read(linked)).has(anchor)]).toEqual([target, true]);
    }
  },
);

const rooms = documents.filter((path) => /^(src\/.+|streams|test.*)\/README\.md$/.test(path));

test.each(rooms)("%s names its folder's contents, and ends with how to extend it", (path) => {
  const [body = "", code] = read(path).split("\n## In the code\n");
  expect(`${body}${code}`).toContain("**Contents.**");
  expect(body).not.toMatch(/\*\*(Imported by|Imports|How to add one more\.)\*\*/);
  expect(code).toMatch(/^(?![^]*\n## )[^]*\*\*How to add one more\.\*\*/);
});

const maps = [...rooms.filter((path) => !path.startsWith("test/")), "src/README.md"];

test.each(maps)("every source file that %s names exists", (path) => {
  const names = [...read(path).matchAll(/`([\w./-]+\.(?:ts|css))`/g)].map(([, name = ""]) => name);
  const isThere = (name: string): boolean =>
    [dirname(path), "."].some((base) => existsSync(join(root, base, name)));
  expect(names.filter((name) => !isThere(name))).toEqual([]);
});

const snippets = documents.flatMap((path) =>
  [...read(path).matchAll(/^```toml\n([^]+?)^```$/gm)].map(([, text = ""], n) => ({
    path,
    text,
    n: n + 1,
  })),
);
const machine = { dir: root, machineTimezone: "UTC", machineCores: 2 };
const projectWith = (text: string) => resolveProject({ ...machine, text }, filterTable);
const around = `[models.claude]
provider = "anthropic"
model = "claude-sonnet-4-5"
[models.gpt]
provider = "openai"
model = "gpt-5"
[webhooks.github]
type = "github"
credential = "default"
[webhooks.deploys]
type = "generic"
credential = "default"
[webhooks.errors]
type = "sentry"
credential = "default"
`;

test.each(snippets)("configuration $n of $path loads without a warning", ({ text }) => {
  const project = projectWith(around);
  if (project.type === "invalid") throw new Error(said(project).join("\n"));
  const isGiven = (line: string) => new RegExp(`^${line.split(" ")[0]} =`, "m").test(text);
  const needed = ['models = ["claude"]', "credentials = []", "callable = true"];
  const files = agentFiles([...needed.filter((line) => !isGiven(line)), text].join("\n"));
  expect([
    said(projectWith(text)),
    said(projectWith(`${text}\n${around}`)),
    said(resolveAgent(files, project.project, knownToAgents())),
  ]).toContainEqual([]);
});

test("the files of the README's section An agent load together in a project of al new", () => {
  const [agent, added] = snippets.filter(({ path }) => path === "README.md");
  const made = around.slice(0, around.indexOf("[models.gpt]"));
  const project = projectWith(`${made}${added?.text}`);
  if (project.type === "invalid") throw new Error(said(project).join("\n"));
  const files = agentFiles(agent?.text ?? "");
  const problems = said(resolveAgent(files, project.project, knownToAgents()));
  expect([said(project), problems]).toEqual([[], []]);
});
