import { execFileSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";

/** Plugins of Docker's command line that Debian lacks, or has in an old version; built once, from Go's module proxy. */
const plugins = [
  {
    name: "docker-buildx",
    path: "github.com/docker/buildx",
    version: "v0.30.1",
    main: "cmd/buildx",
  },
  { name: "docker-compose", path: "github.com/docker/compose/v2", version: "v2.40.3", main: "cmd" },
] as const;
const config = join(homedir(), ".cache/almanac-compose");
const folder = join(config, "cli-plugins");

/** The environment in which Compose finds both plugins, and the path of Compose. Takes some minutes the first time. */
export function composeTools() {
  mkdirSync(folder, { recursive: true });
  for (const { name, path, version, main } of plugins) {
    const binary = join(folder, name);
    if (existsSync(binary)) continue;
    const found = execFileSync("go", ["mod", "download", "-json", `${path}@${version}`], {
      cwd: config,
    });
    const { Dir } = JSON.parse(found.toString()) as { Dir: string };
    // `go install` refuses a module with exclude directives, and the module cache is read-only.
    const source = join(config, `${name}-source`);
    cpSync(Dir, source, { recursive: true });
    execFileSync("chmod", ["-R", "u+w", source]);
    // Compose asks its plugin for builds how old it is.
    const ldflags = `-ldflags=-s -w -X ${path}/version.Version=${version}`;
    const flags = ["-mod=mod", "-trimpath", ldflags, "-o", binary];
    const env = { ...process.env, CGO_ENABLED: "0" };
    execFileSync("go", ["build", ...flags, `./${main}`], { cwd: source, env });
  }
  return { DOCKER_CONFIG: config, compose: join(folder, "docker-compose") };
}
