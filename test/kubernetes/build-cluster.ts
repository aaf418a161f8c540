import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";

const release = "1.34.4";
/** Programs of Kubernetes and of its nodes' network, built once. */
export const programsDir = join(homedir(), ".cache/almanac-kubernetes", release);

const commands =
  "kube-apiserver kube-controller-manager kube-scheduler kubelet kubectl kube-proxy".split(" ");
const enforcer = "github.com/cloudnativelabs/kube-router/v2/cmd/kube-router@v2.1.0";
const packages =
  "etcd-server etcd-client containerd runc containernetworking-plugins docker.io iptables ipset conntrack gcc";

const build = join(programsDir, "build");
const pathOf = (name: string) => join(programsDir, name);

function go(...args: readonly string[]): string {
  const env = { ...process.env, CGO_ENABLED: "0", GOBIN: programsDir, GOFLAGS: "-mod=mod" };
  return execFileSync("go", args, { cwd: build, encoding: "utf8", env, stdio: "pipe" });
}

function timed(step: string, act: () => void): void {
  const start = Date.now();
  act();
  process.stdout.write(`${step}: ${Math.round((Date.now() - start) / 1000)} s\n`);
}

function moduleDir(): string {
  const found = go("mod", "download", "-json", `k8s.io/kubernetes@v${release}`);
  return (JSON.parse(found) as { Dir: string }).Dir;
}

/** `go install` refuses a module with replace directives: this one requires it, and names the published staging modules. */
function writeModule(): void {
  mkdirSync(build, { recursive: true });
  writeFileSync(join(build, "go.mod"), "module almanac.test/kubernetes\n");
  const staging = release.replace(/^1/, "v0");
  const text = readFileSync(join(moduleDir(), "go.mod"), "utf8")
    .replace(/^module .*/m, "module almanac.test/kubernetes")
    .replace(/ v0\.0\.0(?=\s)/g, ` ${staging}`)
    .replace(/^(\s*)(\S+) => \.\/staging\/src\/\S+/gm, `$1$2 => $2 ${staging}`);
  writeFileSync(join(build, "go.mod"), `${text}\nrequire k8s.io/kubernetes v${release}\n`);
  writeFileSync(join(build, "go.sum"), readFileSync(join(moduleDir(), "go.sum")));
}

function buildCommand(name: string): void {
  const version = "k8s.io/component-base/version";
  const [major, minor] = release.split(".");
  const versions = `-X ${version}.gitVersion=v${release} -X ${version}.gitMajor=${major} -X ${version}.gitMinor=${minor}`;
  const flags = ["-trimpath", `-ldflags=-s -w ${versions}`];
  go("build", ...flags, "-o", `${pathOf(name)}.new`, `k8s.io/kubernetes/cmd/${name}`);
  renameSync(`${pathOf(name)}.new`, pathOf(name));
}

function buildPause(): void {
  const source = join(moduleDir(), "build/pause/linux/pause.c");
  execFileSync("gcc", ["-Os", "-static", "-DVERSION=1", "-o", pathOf("pause"), source]);
}

/** Builds what is missing, and says how long each step took. */
if (import.meta.main) {
  timed("Debian's packages", () =>
    execFileSync("apt-get", ["install", "-qqy", "--no-install-recommends", ...packages.split(" ")]),
  );
  const missing = (name: string) => !existsSync(pathOf(name));
  timed("modules", writeModule);
  for (const name of commands.filter(missing)) timed(name, () => buildCommand(name));
  if (missing("pause")) timed("pause", buildPause);
  if (missing("kube-router"))
    timed("kube-router", () => go("install", "-trimpath", "-ldflags=-s -w", enforcer));
}
