/**
 * Writes what a build took from packages: `dist/licenses.txt` with their licenses, and `dist/sbom.cdx.json`, a bill of
 * materials in CycloneDX. Both list the packages whose code is in the chunks, not the ones that are installed.
 */
import { existsSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";

const licenseFile = /^(licen[cs]e|copying|notice)/i;

/** Writes both files for the modules of a build, given by their paths; returns the names of the files below `dist/`. */
export function writeBundledPackages(root, modules) {
  const folders = [...new Set(modules.flatMap((module) => packageFolder(module)))];
  const packages = folders
    .map((folder) => ({ folder, ...readJson(join(folder, "package.json")) }))
    .sort((a, b) => (nameAndVersion(a) < nameAndVersion(b) ? -1 : 1));
  const different = packages.filter(
    (one, index) => index === 0 || nameAndVersion(one) !== nameAndVersion(packages[index - 1]),
  );
  const files = { "licenses.txt": licenses(different), "sbom.cdx.json": sbom(root, different) };
  for (const [name, text] of Object.entries(files)) writeFileSync(join(root, "dist", name), text);
  return Object.keys(files);
}

/** The folder of a module's package; none for a module of this program. */
function packageFolder(module) {
  if (!module.includes("/node_modules/")) return [];
  for (let folder = dirname(module); ; folder = dirname(folder)) {
    const manifest = join(folder, "package.json");
    // Some packages contain further manifests, which only declare the type of modules.
    if (existsSync(manifest) && readJson(manifest).version !== undefined) return [folder];
  }
}

/** Packages with the same text share it. */
function licenses(packages) {
  const named = new Map();
  for (const { folder, ...one } of packages) {
    const files = readdirSync(folder, { withFileTypes: true });
    const names = files.filter((file) => file.isFile() && licenseFile.test(file.name));
    const texts = names.map(({ name }) => readFileSync(join(folder, name), "utf8").trim());
    const text = texts.join("\n\n") || `${one.license ?? "No license"}, without a text.`;
    named.set(text, [...(named.get(text) ?? []), `${nameAndVersion(one)} (${licenseOf(one)})`]);
  }
  const parts = [...named].map(([text, of]) => `${of.join("\n")}\n\n${text}\n`);
  return ["The licenses of the packages inside Almanac\n", ...parts].join(`\n${"=".repeat(80)}\n`);
}

function sbom(root, packages) {
  const { name, version, license } = readJson(join(root, "package.json"));
  const locked = readJson(join(root, "package-lock.json")).packages;
  const self = `pkg:npm/${name}@${version}`;
  const components = packages.map((one) => {
    const [, group, short] = /^(?:(@[^/]+)\/)?(.+)$/.exec(one.name);
    const { integrity = "" } = locked[relative(root, one.folder)] ?? {};
    return {
      type: "library",
      "bom-ref": purlOf(one),
      ...(group && { group }),
      name: short,
      version: one.version,
      ...(integrity.startsWith("sha512-") && {
        hashes: [
          { alg: "SHA-512", content: Buffer.from(integrity.slice(7), "base64").toString("hex") },
        ],
      }),
      licenses: [{ expression: licenseOf(one) }],
      purl: purlOf(one),
    };
  });
  const own = { type: "application", "bom-ref": self, name, version, purl: self };
  const bill = {
    $schema: "http://cyclonedx.org/schema/bom-1.6.schema.json",
    bomFormat: "CycloneDX",
    specVersion: "1.6",
    version: 1,
    metadata: { component: { ...own, licenses: [{ expression: license }] } },
    components,
    dependencies: [{ ref: self, dependsOn: components.map(({ purl }) => purl) }],
  };
  return `${JSON.stringify(bill, null, 1)}\n`;
}

const nameAndVersion = ({ name, version }) => `${name}@${version}`;
const purlOf = ({ name, version }) => `pkg:npm/${name.replace("@", "%40")}@${version}`;
const licenseOf = ({ license }) => license ?? "NOASSERTION";
const readJson = (file) => JSON.parse(readFileSync(file, "utf8"));
