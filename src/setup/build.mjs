/**
 * Builds the program into `dist/`: one small entry, and chunks that are loaded when a command first needs them. The used
 * parts of packages are in the chunks too, because opening hundreds of small files takes most of a short command's time.
 * A page's script is a separate file, which the page includes inline, like its styles.
 */
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  rmdirSync,
  writeFileSync,
} from "node:fs";
import http from "node:http";
import { basename, dirname, join, resolve } from "node:path";
import { rolldown } from "rolldown";
import { writeBundledPackages } from "./bundled-packages.mjs";
import { piParts } from "./pi-parts.mjs";

const root = resolve(import.meta.dirname, "../..");
const output = join(root, "dist");
const dashboard = "src/interfaces/dashboard";

/** Photon (pi makes images smaller with it) reads its WebAssembly beside its own file: beside the chunk, once bundled. */
const photon = {
  name: "photon-beside-its-chunk",
  transform: {
    filter: { id: /photon-node\/photon_rs\.js$/ },
    handler(code, id) {
      const name = "photon_rs_bg.wasm";
      const source = readFileSync(join(dirname(id), name));
      this.emitFile({ type: "asset", fileName: `src/chunks/${name}`, source });
      return code.replaceAll("__dirname", "import.meta.dirname");
    },
  },
};

/**
 * An `import` of node:http reads each of its exports, and those of undici among them load undici: 6 MB of memory. This
 * omits them.
 */
const httpWithoutUndici = {
  name: "http-without-undici",
  resolveId: (id, _importer, { kind }) =>
    id === "node:http" && kind === "import-statement" ? "\0http" : null,
  load: (id) => {
    if (id !== "\0http") return null;
    const exported = Object.entries(Object.getOwnPropertyDescriptors(http));
    const names = exported.filter(([, { get }]) => get === undefined).map(([name]) => name);
    return `const http = process.getBuiltinModule("node:http");
            export const { ${names.join(", ")} } = http;
            export default http;`;
  },
};

/**
 * Parts of packages that al never uses, and that would be a third of what a start reads: Fastify's own validation (the
 * schemas are zod's), its logger, the languages of zod's messages, JavaScript inside of YAML. Injected requests are loaded
 * by the MCP server alone.
 */
const unused = {
  name: "unused-parts",
  resolveId: (id, importer = "") => {
    const isLocales = id === "../locales/index.js" && importer.includes("/zod/");
    const isOfDocker =
      /\/node_modules\/docker(ode|-modem)\//.test(importer) && neverAskedOfDocker.test(id);
    const isOfMetrics = id === "@opentelemetry/api" && importer.includes("/prom-client/");
    if (isLocales || isOfDocker || isOfMetrics) return "\0empty";
    const isOfFastify = id === "light-my-request" && importer.includes("/fastify/");
    return isOfFastify || isUnused.test(id) ? "\0unused" : null;
  },
  load: (id) =>
    ({
      "\0empty": "export {}",
      "\0unused": 'module.exports = {}; throw new Error("left out of the build");',
    })[id],
};
const isUnused =
  /^(@fastify\/(ajv-compiler|fast-json-stringify-compiler)|pino|esprima|react-devtools-core)$/;
/** docker-modem's own ssh client, sessions and builds of BuildKit, and archives of folders. */
const neverAskedOfDocker = /^(\.\/(ssh|session|buildkit)|tar-fs|@balena\/dockerignore)$/;

/** `string-width` loads the tables of Unicode at import, which takes 20 ms; a table of plain text needs none. */
const lazyUnicode = {
  name: "lazy-unicode",
  transform: (code, id) =>
    id.endsWith("/string-width/index.js")
      ? code.replace(
          /^const (segmenter|rgiEmojiRegex) = (.+);$/gm,
          "const $1 = new Proxy({}, { get: (own, name) => (...given) => (own.made ??= $2)[name](...given) });",
        )
      : null,
};

/** The script of a page hydrates the markup that the server rendered with the same component. */
const pageEntry = {
  name: "page-entry",
  resolveId: (id) => (id.startsWith("\0") ? id : null),
  load: (id) =>
    id.startsWith("\0")
      ? `import { mount } from ${JSON.stringify(join(root, dashboard, "mount.ts"))};
         import { page } from ${JSON.stringify(join(root, id.slice(1)))};
         mount(page.view);`
      : null,
};

/** Escapes texts that would end, or change, a page's inline script element. */
const inlineScripts = {
  name: "inline-scripts",
  renderChunk: (code) => code.replace(/<(?=!--|\/script|\/style)/gi, "\\x3c"),
};

/** Small modules that every command reads: a separate file for each would cost more than its content. */
const wordTables = new RegExp(
  [
    "/streams/(agent-config|iso-times|vocabulary)",
    "/foundation/(errors|version|contracts/(plain-text|budget|did-you-mean|mcp|question-kinds|scopes|shell-word|json-size|credential-reference))",
    "/rules/alert",
    "/search-kinds",
    "/cli/(context|terminal/(output|format))",
  ]
    .map((path) => `${path}[.]ts$`)
    .join("|"),
);

/** Small modules that each start loads, and that code which is loaded later, of clusters and of MCP, uses too. */
const connections = /\/wire\/(http-proxy|join-sockets|json|mcp-call)\.ts$/;

/** Small modules that a start and the commands for people load. */
const texts =
  /\/(streams\/duration-text|views\/(pause-text|delivery-words)|foundation\/operation|memory\/(changes-text|memory-place))\.ts$/;

/** Small modules that a start and the reads of a stored project load. */
const reports =
  /\/(contracts\/(history|operator-api)|webhooks\/delivery-report|memory\/(memory-(reports|difference|store|views)|operations|versions)|runs\/(proposals|memory-options))\.ts$/;

/** Small modules of the gateway that code which is loaded later, such as the MCP server, uses too. */
const sharedByGateway =
  /\/zod\/v4\/classic\/(coerce|compat|iso)\.js$|\/node_modules\/(cookie|process-warning)\/|\/(contracts\/loopback|search\/search-report|kit\/(linked|memo))\.tsx?$/;

/**
 * The two processes between a trigger and its model's first request, each a separate bundle: sharing chunks with the
 * rest of the program, they would read 80 files.
 */
const processes = {
  "src/run/supervisor": "src/runtime/runners/host-user/supervisor.ts",
  "src/run/run-process": "src/interfaces/cli/agent-process/run-process.ts",
};
const separate = {
  name: "separate-processes",
  resolveId: (id, importer = "") => {
    const path = resolve(dirname(importer), id);
    const [name] = Object.entries(processes).find(([, file]) => join(root, file) === path) ?? [];
    if (name === undefined) return null;
    return { id: `../${name.replace("src/", "")}.js`, external: "relative" };
  },
};

const program = {
  platform: "node",
  plugins: [piParts(root), photon, httpWithoutUndici, lazyUnicode, unused],
  resolve: { alias: { rxjs: join(root, "node_modules/rxjs/dist/esm/index.js") } }, // classes, in half the code
  transform: { define: { "process.env.NODE_ENV": '"production"' } }, // React's
  checks: { eval: false }, // gray-matter's engine for JavaScript, which is never asked
};
/** Code loaded by every run, in one file; other code is of one harness, of one provider, or for hooks. */
const ofEveryRun = new RegExp(
  `^${RegExp.escape(root)}/(streams|src/(foundation/(?!config)|runtime/(?!harness/(llm-cli|mcp|pi)/|wire/mcp-)))|/zod/`,
);

/** Modules loaded only for their exports: unused ones are omitted. */
const pureSources = ["src", "streams", "node_modules/@earendil-works"].map((folder) => ({
  test: new RegExp(`^${RegExp.escape(join(root, folder))}/`),
  sideEffects: false,
}));

const modules = [];
const written = [
  ...(await bundle({
    ...program,
    input: { "src/cli/al": join(root, "src/interfaces/cli/al.ts") },
    plugins: [separate, ...program.plugins],
    split: {
      groups: [
        { name: "words", test: wordTables },
        { name: "shared-by-gateway", test: sharedByGateway },
        { name: "connections", test: connections },
        { name: "texts", test: texts },
        { name: "reports", test: reports },
      ],
    },
  })),
];
for (const [name, file] of Object.entries(processes)) {
  const input = { [name]: join(root, file) };
  const groups = name.endsWith("run-process") ? [{ name: "run", test: ofEveryRun }] : [];
  const treeshake = { moduleSideEffects: pureSources };
  written.push(...(await bundle({ ...program, input, split: { groups }, treeshake })));
}
const threads = ["src/features/search/search-thread"];
for (const thread of threads) {
  const input = { [thread]: join(root, `${thread}.ts`) };
  written.push(...(await bundle({ input, platform: "node" })));
}
const scripts = {
  live: join(root, dashboard, "live/worker.ts"),
  "private-host": join(root, dashboard, "private-host.ts"),
};
for (const page of readdirSync(join(root, dashboard, "pages"))) {
  scripts[page] = `\0${dashboard}/pages/${page}/page.tsx`;
}
for (const [name, file] of Object.entries(scripts)) {
  written.push(
    ...(await bundle({
      input: { [`${dashboard}/pages/${name}`]: file },
      platform: "browser",
      plugins: [pageEntry, inlineScripts],
      minify: true,
    })),
  );
}
mkdirSync(join(output, dashboard, "styles"), { recursive: true });
for (const file of readdirSync(join(root, dashboard), { recursive: true })) {
  if (!file.endsWith(".css")) continue;
  const text = readFileSync(join(root, dashboard, file), "utf8");
  // Every page includes its styles: without comments and needless spaces they are a quarter smaller.
  const short = text
    .replaceAll(/\/\*[^]*?\*\/|(?<=^ *[\w-]+:) /gm, "")
    .replaceAll(/\s+/g, " ")
    .replaceAll(/ ?([{},;]) ?/g, "$1")
    .replaceAll(";}", "}");
  const style = `${dashboard}/styles/${basename(file)}`;
  writeFileSync(join(output, style), short.trimStart());
  written.push(style);
}
const words = `${dashboard}/words.txt`;
copyFileSync(join(root, "examples/words/README.md"), join(output, words));
written.push(words, ...writeBundledPackages(root, modules));
removeOthers(new Set(written));

/** Writes one bundle; returns the paths of its files below `dist/`. */
async function bundle({ split, minify = false, ...options }) {
  const build = await rolldown({ cwd: root, tsconfig: join(root, "tsconfig.json"), ...options });
  const { output: files } = await build.write({
    dir: output,
    format: "esm",
    charset: "ascii", // Node keeps a text with any other character whole in two bytes each
    comments: { legal: true, annotation: false, jsdoc: false },
    entryFileNames: "[name].js",
    // With this ending, Node knows their type without searching for a package.json.
    chunkFileNames: "src/chunks/[name]-[hash].mjs",
    codeSplitting: split,
    minify,
  });
  await build.close();
  modules.push(...files.flatMap((file) => Object.keys(file.modules ?? {})));
  return files.map(({ fileName }) => fileName);
}

/** Files of an earlier build are removed after the new build, so that a running command finds its chunks meanwhile. */
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
