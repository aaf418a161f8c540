import matter from "gray-matter";
import { execFileSync } from "node:child_process";
import { existsSync, globSync, readFileSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import { buildProgram } from "../../src/interfaces/cli/program.ts";

const root = resolve(import.meta.dirname, "../..");
const read = (path: string) => readFileSync(join(root, path), "utf8");
const dockerfile = read("Dockerfile");
const composeFile = read("examples/deploy/compose.yaml");
const wrapper = read("examples/deploy/al.sh");

interface ComposeFile {
  readonly services: {
    readonly almanac: {
      readonly build: { readonly context: string; readonly args: object };
      readonly environment: object;
      readonly volumes: readonly (string | { readonly source: string; readonly target: string })[];
    };
  };
  readonly volumes: object;
}

const compose = matter(`---\n${composeFile}\n---\n`).data as ComposeFile;
const { almanac } = compose.services;

test("the Dockerfile copies files that exist and that .dockerignore leaves in the context", () => {
  const ignored = read(".dockerignore").split("\n");
  const sources = [...dockerfile.matchAll(/^COPY (.+) \S+$/gm)].map(([, words = ""]) =>
    (words.split(" ").at(-1) ?? "").replace(/^\/program\//, ""),
  );
  expect(sources).toEqual([".", "package.json", "dist", "examples/deploy/al.sh"]);
  // The first stage of the Dockerfile builds it if it isn't there.
  expect(sources.filter((path) => path !== "dist" && !existsSync(join(root, path)))).toEqual([]);
  expect(ignored).not.toContain("package.json");
  expect(ignored).toEqual(
    expect.arrayContaining(["dist", "**/node_modules", "!test/package.json"]),
  );
});

test("the image starts al with options that it has, and asks a health route that exists", () => {
  const [, words = ""] = /^CMD (\[.+\])$/m.exec(dockerfile) ?? [];
  const [name, ...options] = JSON.parse(words) as readonly string[];
  const start = buildProgram().commands.find((command) => command.name() === name);
  const known = start?.options.map(({ long }) => long);
  expect(known).toEqual(expect.arrayContaining(options.filter((word) => word.startsWith("--"))));
  const [, path = ""] = /127\.0\.0\.1:8080(\/[\w/]+)/.exec(dockerfile) ?? [];
  expect(read("src/interfaces/gateway/routes/status.ts")).toContain(`get("${path}"`);
});

test("the Compose file names arguments, variables, folders and volumes that exist", () => {
  expect(existsSync(join(root, "examples/deploy", almanac.build.context, "Dockerfile"))).toBe(true);
  const args = [...dockerfile.matchAll(/^ARG (\w+)/gm)].map(([, name]) => name);
  expect(args).toEqual(expect.arrayContaining(Object.keys(almanac.build.args)));
  const sources = globSync("src/**/*.ts", { cwd: root }).map(read).join("\n");
  const variables = [...Object.keys(almanac.environment), "AL_HOME"].filter((one) => one !== "TZ");
  for (const name of variables) expect(sources).toContain(`env.${name}`);
  const home = /^ENV AL_HOME=(\S+)/m.exec(dockerfile)?.[1];
  const mounts = almanac.volumes.filter((one) => typeof one === "string");
  expect(mounts).toContain(`home:${home}`);
  const named = mounts.map((mount) => mount.split(":")[0]).filter((one) => /^\w+$/.test(one ?? ""));
  expect(named).toEqual(Object.keys(compose.volumes));
});

test("the page on deployment describes each variable of the Compose file", () => {
  const page = read("examples/deploy/README.md");
  const names = [...composeFile.matchAll(/\$\{(\w+)/g)].map(([, name = ""]) => name);
  expect([...new Set(names)].filter((name) => !page.includes(`| \`${name}\` |`))).toEqual([]);
});

test("the image's al is an executable shell script without errors of syntax", () => {
  expect(statSync(join(root, "examples/deploy/al.sh")).mode & 0o111).toBe(0o111);
  execFileSync("sh", ["-n"], { input: wrapper });
});
