import { createHash } from "node:crypto";
import { findPackageJSON } from "node:module";
import { pathToFileURL } from "node:url";
import { readFile, realpath } from "node:fs/promises";
import { dirname, join, relative, sep } from "node:path";
import { hasCode, UserError } from "../../../../foundation/errors.ts";
import { hashEntries, walk } from "./archive.ts";
import type { TarEntry } from "./archive.ts";

/** The installed program: its own files and the packages that it needs at run time. */
export interface Program {
  readonly version: string;
  /** Changes with the program's own files and with any version of a package. */
  readonly hash: string;
  /** Path of `al.js` below the folder that the entries are unpacked into. */
  readonly main: string;
  /** Everything, with paths below `path`. */
  entries(path: string): AsyncIterable<TarEntry>;
}

interface Manifest {
  readonly name?: string;
  readonly version?: string;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
  readonly peerDependenciesMeta?: Readonly<Record<string, { readonly optional?: boolean }>>;
}

/** A package where it is on disk, and where a link leads to it. */
interface Found {
  readonly dir: string;
  readonly manifest: Manifest;
  readonly links: Set<string>;
}

/**
 * The program that is installed at `root` (the folder of its package.json), laid out as Node resolves it: nested,
 * hoisted or linked. Development dependencies, type declarations and source maps stay out.
 */
export async function installedProgram(root: string): Promise<Program> {
  const own = await realpath(root);
  const found = new Map<string, Found>();
  await collect(own, found);
  const packages = [...found.values()].sort((a, b) => (a.dir < b.dir ? -1 : 1));
  const top = commonFolder(packages.flatMap(({ dir, links }) => [dir, ...links]));
  const manifest = found.get(own)?.manifest ?? {};
  const versions = packages.map(
    ({ manifest: { name = "", version = "" } }) => `${name}@${version}`,
  );
  const files = () => walk(join(own, "dist"), "dist", leftOut);
  return {
    version: manifest.version ?? "0.0.0",
    hash: createHash("sha256")
      .update(versions.join("\n"))
      .update(await hashEntries(files()))
      .digest("hex"),
    main: slashes(join(relative(top, own), "dist/src/cli/al.js")),
    entries: (path) =>
      programEntries(own, packages, (place) => slashes(join(path, relative(top, place)))),
  };
}

async function* programEntries(
  own: string,
  packages: readonly Found[],
  pathOf: (place: string) => string,
): AsyncGenerator<TarEntry> {
  for (const { dir, links } of packages) {
    yield* dir === own ? ownEntries(own, pathOf(own)) : walk(dir, pathOf(dir), leftOut);
    for (const link of links) {
      yield { type: "symlink", path: pathOf(link), target: slashes(relative(dirname(link), dir)) };
    }
  }
}

async function* ownEntries(own: string, path: string): AsyncGenerator<TarEntry> {
  const content = await readFile(join(own, "package.json"));
  yield { type: "content", path: `${path}/package.json`, content };
  yield* walk(join(own, "dist"), `${path}/dist`, leftOut);
}

/** Packages below a package are listed by themselves; only people and compilers read the other files. */
function leftOut(name: string): boolean {
  return (
    name === "node_modules" ||
    /\.(map|tsbuildinfo|d\.[cm]?ts)$/.test(name) ||
    name.startsWith(".tsbuildinfo")
  );
}

/** Large packages that only the scheduler uses: 25 MB that each image would carry. */
const ofScheduler: ReadonlySet<string> = new Set(["@kubernetes/client-node"]);

async function collect(dir: string, found: Map<string, Found>): Promise<void> {
  const manifest = JSON.parse(await readFile(join(dir, "package.json"), "utf8")) as Manifest;
  found.set(dir, { dir, manifest, links: new Set() });
  const { dependencies = {}, optionalDependencies = {}, peerDependencies = {} } = manifest;
  for (const name of Object.keys({
    ...peerDependencies,
    ...dependencies,
    ...optionalDependencies,
  })) {
    if (ofScheduler.has(name)) continue;
    const place = resolvePackage(name, dir);
    if (place === null) {
      if (name in dependencies && !(name in optionalDependencies)) throw notInstalled(name, dir);
      continue;
    }
    const real = await realpath(place);
    if (!found.has(real)) await collect(real, found);
    if (real !== place) found.get(real)?.links.add(place);
  }
}

/** Where Node finds a package from `dir`, which may be a link. */
function resolvePackage(name: string, dir: string): string | null {
  try {
    const found = findPackageJSON(name, pathToFileURL(join(dir, "package.json")));
    return found === undefined ? null : dirname(found);
  } catch (error) {
    if (hasCode(error, "ERR_MODULE_NOT_FOUND")) return null;
    throw error;
  }
}

function notInstalled(name: string, dir: string): UserError {
  return new UserError("incomplete_install", `the package ${name} is missing below ${dir}`, {
    hint: "install almanac again",
  });
}

function commonFolder(places: readonly string[]): string {
  let common = (places[0] ?? sep).split(sep);
  for (const place of places) {
    const parts = place.split(sep);
    const differs = common.findIndex((part, index) => part !== parts[index]);
    if (differs !== -1) common = common.slice(0, differs);
  }
  return common.join(sep) || sep;
}

function slashes(path: string): string {
  return path.split(sep).join("/");
}
