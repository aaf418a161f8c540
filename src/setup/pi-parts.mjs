/**
 * A plugin of the build that leaves out of pi what a run never uses: its terminal, its sign-in, its extensions on disk,
 * the tables and clients of 40 providers. All of pi took most of the time until a run asks its model.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";

const nothing = `() => { throw new Error("this part of pi is left out of the build"); }`;
const emptyList = "() => []";
const noPackages = `class {
  setProgressCallback() {}
  resolve() { return { extensions: [], skills: [], prompts: [], themes: [] }; }
  resolveExtensionSources() { return this.resolve(); }
}`;

/** A tool that no session offers: pi makes all of its own before it takes those that are asked for. */
const notOffered = (name) =>
  `() => ({ name: "${name}", label: "${name}", description: "", parameters: {}, execute: ${nothing} })`;

/** Modules of pi, and what a run gets of them, by export. */
const replaced = {
  // src/runtime/harness/pi registers the models of a run, with their clients.
  "pi-ai/dist/providers/all.js": {
    builtinModels: "() => ({ getProvider: () => undefined })",
    builtinProviders: emptyList,
    getBuiltinModel: nothing,
    getBuiltinModelDataGeneratedAt: "() => undefined",
    getBuiltinModels: nothing,
    getBuiltinProviders: nothing,
    radiusProvider: nothing,
  },
  "pi-ai/dist/providers/openrouter.js": { personalizeOpenRouterCatalog: nothing },
  "pi-ai/dist/image-models.js": {
    getImageModel: nothing,
    getImageModels: nothing,
    getImageProviders: nothing,
  },
  "core/bug-report.js": { generateBugReportSummary: nothing },
  "core/export-html/index.js": { exportSessionToHtml: nothing },
  "core/export-html/tool-renderer.js": { createToolHtmlRenderer: nothing },
  "core/extensions/jiti-loader.js": { createJiti: nothing },
  "core/extensions/jiti-static-loader.js": { createJiti: nothing },
  "core/extensions/virtual-modules.js": { VIRTUAL_MODULES: nothing },
  "core/http-dispatcher.js": {
    DEFAULT_HTTP_IDLE_TIMEOUT_MS: "300_000",
    parseHttpIdleTimeoutMs: "(ms) => ms",
  },
  "core/package-manager.js": { DefaultPackageManager: noPackages },
  "core/tools/find.js": { createFindTool: nothing, createFindToolDefinition: notOffered("find") },
  "core/tools/grep.js": { createGrepTool: nothing, createGrepToolDefinition: notOffered("grep") },
  "core/tools/ls.js": { createLsTool: nothing, createLsToolDefinition: notOffered("ls") },
  "core/tools/renderers/bash.js": {
    BASH_UPDATE_THROTTLE_MS: "100",
    createShellRenderers: "() => ({})",
  },
  "core/tools/renderers/edit.js": { editRenderers: "{}" },
  "core/tools/renderers/find.js": { findRenderers: "{}" },
  "core/tools/renderers/grep.js": { grepRenderers: "{}" },
  "core/tools/renderers/ls.js": { lsRenderers: "{}" },
  "core/tools/renderers/read.js": { readRenderers: "{}" },
  "core/tools/renderers/write.js": { writeRenderers: "{}" },
  "modes/interactive/theme/theme.js": {
    getThemeByName: nothing,
    loadThemeFromPath: nothing,
    theme: nothing,
  },
  "utils/frontmatter.js": { parseFrontmatter: nothing, stripFrontmatter: nothing },
};

/**
 * Parts of OpenAI's client beside its calls of chats and responses: its other resources, and its helpers for streams,
 * which pi reads by itself. Their exports become empty classes.
 */
const ofOpenAi =
  /\/node_modules\/openai\/(azure|resources\/(?!(chat|responses|shared|index)\b)|lib\/(responses\/)?(\w+(Stream|Runner)\.mjs|agents\/|beta\/|live\/|realtime\/))/;

const exported = /^export (?:async )?(?:class|const|let|function\*?) (\w+)|^export \{([^}]*)\}/gm;

/** An empty class for each export of a module. */
function emptied(code) {
  const names = [...code.matchAll(exported)].flatMap(([, name, list = ""]) =>
    name === undefined
      ? list.split(",").map((one) =>
          one
            .trim()
            .split(/\s+as\s+/)
            .at(-1),
        )
      : [name],
  );
  return names
    .filter((name) => /^\w+$/.test(name) && name !== "default")
    .map((name) => `export class ${name} {}`)
    .join("\n");
}

/** Packages that only parts of pi use which a run never calls. */
const unused = /^(ignore|proper-lockfile)$/;

function moduleOf(exports) {
  return Object.entries(exports)
    .map(([name, code]) => `export const ${name} = ${code};`)
    .join("\n");
}

/** The exports of pi's index that the harness imports, from the modules that have them: the index imports all of pi. */
const modules = {
  "sdk.js": "createAgentSession",
  "resource-loader.js": "DefaultResourceLoader",
  "model-runtime.js": "ModelRuntime",
  "session-manager.js": "SessionManager",
  "settings-manager.js": "SettingsManager",
  "tools/bash.js": "createBashToolDefinition, createLocalBashOperations",
  "extensions/types.js": "defineTool",
};

export function piParts(root) {
  const core = join(root, "node_modules/@earendil-works/pi-coding-agent/dist/core");
  const index = Object.entries(modules)
    .map(([file, names]) => `export { ${names} } from ${JSON.stringify(join(core, file))};`)
    .join("\n");
  return {
    name: "pi-parts",
    resolveId: (id, importer = "") => {
      if (id === "@earendil-works/pi-coding-agent") return "\0pi";
      // A run reads no models.json: compiling its schema would take a tenth of the start.
      if (id === "typebox/compile" && importer.endsWith("/model-config.js")) return "\0compile";
      return unused.test(id) && importer.includes("/@earendil-works/") ? "\0none" : null;
    },
    load: (id) => {
      if (id === "\0pi") return index;
      if (id === "\0compile") return moduleOf({ Compile: "() => undefined" });
      if (id === "\0none") return `export default ${nothing};`;
      if (ofOpenAi.test(id)) return emptied(readFileSync(id, "utf8"));
      if (!id.includes("/@earendil-works/")) return null;
      const [, exports] = Object.entries(replaced).find(([end]) => id.endsWith(`/${end}`)) ?? [];
      return exports === undefined ? null : moduleOf(exports);
    },
  };
}
