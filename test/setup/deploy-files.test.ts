import matter from "gray-matter";
import { existsSync, globSync, readFileSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import { buildProgram } from "../../src/interfaces/cli/program.ts";

const root = resolve(import.meta.dirname, "../..");
const read = (path: string) => readFileSync(join(root, path), "utf8");
const dockerfile = read("Dockerfile");
const composeFile = read("examples/deploy/compose.yaml");
const allOf = (text: string, pattern: RegExp) => [...text.matchAll(pattern)].map(([, one]) => one);

interface Service {
  readonly build: { readonly context: string; readonly args: object };
  readonly environment: object;
  readonly volumes: readonly (string | object)[];
}

const { services, volumes } = matter(`---\n${composeFile}\n---\n`).data as {
  readonly services: { readonly almanac: Service };
  readonly volumes: object;
};
const { build, environment, volumes: mounts } = services.almanac;

test("the Dockerfile copies existing files, and al as a program", () => {
  const sources = allOf(dockerfile, /^COPY .*?(?:\/program\/)?(\S+) \S+$/gm);
  expect(sources).toEqual([".", "package.json", "dist", "examples/deploy/al.sh"]);
  expect(statSync(join(root, "examples/deploy/al.sh")).mode & 0o111).toBe(0o111);
});

test("the image starts al with options that it has, and asks a health route that exists", () => {
  const [name, ...options] = JSON.parse(allOf(dockerfile, /^CMD (.+)$/gm)[0] ?? "") as string[];
  const start = buildProgram().commands.find((command) => command.name() === name);
  const known = start?.options.map(({ long }) => long);
  expect(known).toEqual(expect.arrayContaining(options.filter((word) => word.startsWith("--"))));
  const [path] = allOf(dockerfile, /127\.0\.0\.1:8080(\/[\w/]+)/g);
  expect(read("src/interfaces/gateway/routes/status.ts")).toContain(`get("${path}"`);
});

test("the Compose file names an existing context, arguments, variables and volumes", () => {
  expect(existsSync(join(root, "examples/deploy", build.context, "Dockerfile"))).toBe(true);
  expect(allOf(dockerfile, /^ARG (\w+)/gm)).toEqual(Object.keys(build.args));
  const sources = globSync("src/**/*.ts", { cwd: root }).map(read).join("\n");
  for (const name of [...Object.keys(environment), "AL_HOME"].filter((one) => one !== "TZ"))
    expect(sources).toContain(`env.${name}`);
  const named = mounts
    .filter((mount) => typeof mount === "string")
    .filter((mount) => /^\w+:/.test(mount));
  expect(named.map((mount) => mount.split(":")[0])).toEqual(Object.keys(volumes));
  expect(named).toContain(`home:${allOf(dockerfile, /^ENV AL_HOME=(\S+)/gm)[0]}`);
});

test("the page on deployment describes each variable of the Compose file", () => {
  const described = allOf(read("examples/deploy/README.md"), /^\| `(\w+)` \|/gm);
  expect(described).toEqual(expect.arrayContaining(allOf(composeFile, /\$\{(\w+)/g)));
});
