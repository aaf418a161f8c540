import { readFileSync } from "node:fs";
import { stripTypeScriptTypes } from "node:module";

/**
 * The script of a page, to be put into it: the module browser/<name> and what it imports, in one. The modules are plain
 * ones, type-checked and tested like all others. The build has joined them already; where the sources run as they are,
 * this joins them, each once and after what it imports, in one scope: a name is used by one module only.
 */
export function inlineScript(name: string): string {
  const known = scripts.get(name);
  if (known !== undefined) return known;
  const script = joined(name);
  scripts.set(name, script);
  return script;
}

/** What was joined already: files of the program don't change while it runs. */
const scripts = new Map<string, string>();

function joined(name: string): string {
  const seen = new Set<string>();
  const collect = (url: URL): string => {
    if (seen.has(url.href)) return "";
    seen.add(url.href);
    const source = javascriptOf(url);
    const imported = [...source.matchAll(importStatement)].map((match) =>
      collect(new URL(match[1] ?? "", url)),
    );
    return imported.join("") + ownPart(source);
  };
  const script = collect(
    new URL(fromSource ? `browser/${name}.ts` : `${built}/${name}.js`, import.meta.url),
  );
  if (/<\/script|<!--/i.test(script)) throw new Error(`browser/${name} would end its own element`);
  return script;
}

/** Whether the sources run as they are. */
const fromSource = import.meta.url.endsWith(".ts");
/** The build's scripts, as seen from its chunks. */
const built = "../gateway/dashboard/browser";
const importStatement = /^import\s[^;]*?from "([^"]+)";$/gm;

function javascriptOf(url: URL): string {
  const source = readFileSync(url, "utf8");
  return url.pathname.endsWith(".ts") ? stripTypeScriptTypes(source) : source;
}

function ownPart(source: string): string {
  const body = source
    .replace(importStatement, "")
    .replace(/^export (?=const|let|function|async|class)/gm, "")
    .replace(/^export \{\};$/gm, "")
    .replace(/^\/\/# sourceMappingURL.*$/gm, "");
  return `${body.trim()}\n`;
}
