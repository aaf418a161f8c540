import { readFileSync } from "node:fs";
import { registerHooks } from "node:module";
import { fileURLToPath } from "node:url";
import ts from "typescript";

/** For `node --import`: Node strips types, but has no JSX, so the pages of the dashboard are compiled as they load. */
registerHooks({
  load: (url, context, next) => {
    if (!url.endsWith(".tsx")) return next(url, context);
    const { outputText: source } = ts.transpileModule(readFileSync(fileURLToPath(url), "utf8"), {
      compilerOptions: {
        module: ts.ModuleKind.ESNext,
        target: ts.ScriptTarget.ESNext,
        jsx: ts.JsxEmit.ReactJSX,
        jsxImportSource: "preact",
      },
    });
    return { format: "module", source, shortCircuit: true };
  },
});
