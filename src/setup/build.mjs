/**
 * Builds the program into `dist/`: one small entry, and chunks that are loaded when a command first needs them. What
 * al runs of its packages is in the chunks too, because opening hundreds of small files is most of a short command's
 * time. A page's script is one file of its own, which the page carries inside it, as it does its styles.
 */
import { cpSync, existsSync, readdirSync, rmSync, rmdirSync } from "node:fs";
import { join, resolve } from "node:path";
import { rolldown } from "rolldown";

const root = resolve(import.meta.dirname, "../..");
const output = join(root, "dist");
const browser = "src/gateway/dashboard/browser";
const styles = "src/gateway/dashboard/styles";
const pages = ["overview", "agent", "log", "triggers", "cost"];

/** Packages that are loaded as they are: they look for files of their own beside them, or are needed seldom. */
const external = [/^(dockerode|ink|react|tar-stream)(\/|$)/];

/** What pi makes images smaller with reads a file beside itself, so it is loaded from where pi's packages are. */
const photon = {
  name: "photon-beside-pi",
  resolveId: (id) => (id === "@silvia-odwyer/photon-node" ? "\0photon" : null),
  load: (id) =>
    id === "\0photon"
      ? `import { createRequire } from "node:module";
         const require = createRequire(import.meta.resolve("@earendil-works/pi-coding-agent"));
         export const { PhotonImage, SamplingFilter, fliph, flipv, resize } = require("@silvia-odwyer/photon-node");`
      : null,
};

const written = [
  ...(await bundle({
    input: { "src/cli/al": join(root, "src/cli/al.ts") },
    platform: "node",
    external,
    plugins: [photon],
    resolve: { alias: { rxjs: join(root, "node_modules/rxjs/dist/esm/index.js") } }, // classes, in half the code
    checks: { eval: false }, // gray-matter's engine for JavaScript, which is never asked
  })),
];
for (const page of pages) {
  const name = `${browser}/${page}`;
  written.push(
    ...(await bundle({ input: { [name]: join(root, `${name}.ts`) }, platform: "browser" })),
  );
}
cpSync(join(root, styles), join(output, styles), { recursive: true });
written.push(...readdirSync(join(root, styles)).map((name) => `${styles}/${name}`));
removeOthers(new Set(written));

/** Writes one bundle; the paths of its files below `dist/`. */
async function bundle(options) {
  const build = await rolldown({ cwd: root, tsconfig: join(root, "tsconfig.json"), ...options });
  const { output: files } = await build.write({
    dir: output,
    format: "esm",
    entryFileNames: "[name].js",
    chunkFileNames: "src/chunks/[name]-[hash].js",
  });
  await build.close();
  return files.map(({ fileName }) => fileName);
}

/** What an earlier build left goes when the new one is there, so that a running command finds its chunks meanwhile. */
function removeOthers(kept) {
  for (const name of readdirSync(output, { recursive: true, withFileTypes: true })) {
    const path = join(name.parentPath, name.name);
    if (name.isFile() && !kept.has(path.slice(output.length + 1))) rmSync(path);
  }
  removeEmptyFolders(output);
}

function removeEmptyFolders(folder) {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    if (entry.isDirectory()) removeEmptyFolders(join(folder, entry.name));
  }
  if (existsSync(folder) && readdirSync(folder).length === 0) rmdirSync(folder);
}
