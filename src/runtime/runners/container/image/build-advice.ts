import type { BuildStep } from "./build-log.ts";

interface PackageManager {
  /** The systems that have it. */
  readonly of: string;
  /** What comes before the names of packages. */
  readonly install: string;
}

const apt: PackageManager = {
  of: "Debian and Ubuntu",
  install: "apt-get update && apt-get install -y --no-install-recommends",
};
const apk: PackageManager = { of: "Alpine", install: "apk add --no-cache" };
const dnf: PackageManager = { of: "Fedora and its kin", install: "dnf install -y" };
const managers: Readonly<Record<string, PackageManager>> = {
  apk,
  apt,
  "apt-get": apt,
  dnf,
  microdnf: dnf,
  yum: dnf,
};

const missingManager = new RegExp(
  `(?:^|[\\s:])(${Object.keys(managers).join("|")}): (?:command )?not found`,
);
const noRights =
  /permission denied|are you root|must be root|superuser|EACCES|\/apt\/lists\/partial is missing/i;

/** What to do about a build that failed in `step` with these last `lines`. */
export function buildAdvice(step: BuildStep | null, lines: readonly string[]): string {
  const instruction = step?.instruction ?? "";
  if (/^from /i.test(instruction)) {
    return "the image that it begins FROM is not on this engine and can't be pulled: pull or import it, or name another (in the Dockerfile, or as [local].base); saving that builds again";
  }
  const text = lines.join("\n");
  const [, missing] = missingManager.exec(text) ?? [];
  if (missing !== undefined) return otherManager(missing, instruction);
  if (noRights.test(text) && !isRoot(step)) {
    return `the command ran as the base image's user, who has no rights: put USER root before it; saving the Dockerfile builds again`;
  }
  return "fix the Dockerfile; saving it builds again";
}

function otherManager(missing: string, instruction: string): string {
  const wrong = managers[missing];
  const packages = packagesIn(instruction, missing);
  // al-agent:latest is built on Debian where [local].base names nothing else.
  const instead = (wrong === apt ? [apk, dnf] : [apt])
    .map(({ of, install }) => `RUN ${install} ${packages} on ${of}`)
    .join(", ");
  const base = wrong === apt ? "" : " (Debian, if [local].base names no other)";
  return `${missing} is the package manager of ${wrong?.of ?? "another system"}, which the base image is not${base}: write ${instead}, after USER root; names of packages may differ; saving the Dockerfile builds again`;
}

function packagesIn(instruction: string, manager: string): string {
  const [, rest = ""] =
    new RegExp(`\\b${manager}\\b[^&|;]*?\\s(?:add|install)\\s([^&|;]*)`).exec(instruction) ?? [];
  const names = rest
    .split(/\s+/)
    .filter((word) => /^[\w.+:=~<>@/-]+$/.test(word) && word[0] !== "-");
  return names.length === 0 ? "<packages>" : names.join(" ");
}

function isRoot(step: BuildStep | null): boolean {
  return /^(root|0)(:|$)/.test(step?.user ?? "");
}
