import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import type { AuthConfig } from "dockerode";
import { z } from "zod";
import { isMissing, messageOf, Problem } from "../../../foundation/errors.ts";

/** The registry of an image named without one. */
export const hub = "https://index.docker.io/v1/";
const helperMs = 10_000;

const loginSchema = z.object({
  auth: z.string().default(""),
  identitytoken: z.string().optional(),
});

const fileSchema = z.object({
  auths: z.record(z.string(), loginSchema).default({}),
  credHelpers: z.record(z.string(), z.string().regex(/^[\w.-]+$/)).default({}),
  credsStore: z
    .string()
    .regex(/^[\w.-]*$/)
    .default(""),
});
type ConfigFile = z.output<typeof fileSchema>;

const helperSchema = z.object({ Username: z.string(), Secret: z.string() });

/**
 * The login that `docker login` stored for the image's registry, in the Docker config file of this user or in the
 * credential helper that the file names; undefined if there isn't one. Rejects with a Problem if it can't be read.
 */
export async function registryLogin(
  image: string,
  env: NodeJS.ProcessEnv,
): Promise<AuthConfig | undefined> {
  const registry = registryOf(image);
  const file = await readConfig(
    join(env.DOCKER_CONFIG ?? join(homedir(), ".docker"), "config.json"),
  );
  const helper = file.credHelpers[registry] ?? file.credsStore;
  const stored = helper === "" ? undefined : await fromHelper(helper, registry, env);
  return stored ?? fromFile(file, registry);
}

/** `registry.example.com:5000` of `registry.example.com:5000/team/image:tag`. */
export function registryOf(image: string): string {
  const [first = "", ...rest] = image.split("/");
  const isHost = rest.length > 0 && (/[.:]/.test(first) || first === "localhost");
  return isHost && first !== "docker.io" ? first : hub;
}

async function readConfig(path: string): Promise<ConfigFile> {
  try {
    return fileSchema.parse(JSON.parse(await readFile(path, "utf8")));
  } catch (error) {
    if (isMissing(error)) return fileSchema.parse({});
    throw new Problem(
      "docker_config",
      `${path} is not a config file of Docker`,
      "log in anew: docker login <registry>",
    );
  }
}

function fromFile({ auths }: ConfigFile, registry: string): AuthConfig | undefined {
  const found = Object.entries(auths).find(([key]) => hostOf(key) === hostOf(registry))?.[1];
  if (found === undefined) return undefined;
  const { auth, identitytoken } = found;
  if (identitytoken) return { identitytoken, serveraddress: registry };
  const [username = "", ...password] = Buffer.from(auth, "base64").toString("utf8").split(":");
  if (username === "") return undefined;
  return { username, password: password.join(":"), serveraddress: registry };
}

/** The file has hosts and, from older logins, addresses. */
function hostOf(key: string): string {
  return key.replace(/^https?:\/\//, "").replace(/\/[^]*/, "");
}

async function fromHelper(
  helper: string,
  registry: string,
  env: NodeJS.ProcessEnv,
): Promise<AuthConfig | undefined> {
  const program = `docker-credential-${helper}`;
  const answer = await ask(program, registry, env);
  if (answer === null) return undefined;
  const { Username: username, Secret: password } = loginIn(answer, program);
  return username === "<token>"
    ? { identitytoken: password, serveraddress: registry }
    : { username, password, serveraddress: registry };
}

/** The parser's message would quote the answer, which is secret. */
function loginIn(answer: string, program: string): z.output<typeof helperSchema> {
  try {
    return helperSchema.parse(JSON.parse(answer));
  } catch {
    throw new Problem(
      "registry_login",
      `the answer of ${program} is not a login`,
      "log in anew: docker login <registry>",
    );
  }
}

/** Null if the program has no login for the registry. Its output is secret. */
function ask(program: string, registry: string, env: NodeJS.ProcessEnv): Promise<string | null> {
  return new Promise((resolve, reject) => {
    const child = execFile(program, ["get"], { env, timeout: helperMs }, (error, stdout) => {
      if (error === null) return resolve(stdout);
      if (/credentials not found/i.test(stdout)) return resolve(null);
      const reason = isMissing(error) ? "it is not in the PATH" : messageOf(error).split("\n")[0];
      const message = `${program} returned no login for ${registry}: ${reason ?? ""}`;
      reject(new Problem("registry_login", message, `run docker login ${registry}`));
    });
    child.stdin?.on("error", () => undefined);
    child.stdin?.end(registry);
  });
}
