import { asRoot } from "./system.ts";

/** Makes a system user without a home and a login. Rejects with the reason when it can't. */
export function createUser(name: string, env: NodeJS.ProcessEnv): Promise<void> {
  const flags = ["--system", "--user-group", "--no-create-home", "--home-dir", "/nonexistent"];
  return asRoot("useradd", [...flags, "--shell", "/usr/sbin/nologin", "--", name], env);
}
