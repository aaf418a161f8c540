import { asRoot } from "./system.ts";

/** Arguments of useradd for a system user without a home and a login. */
export function userFlags(name: string): readonly string[] {
  const flags = ["--system", "--user-group", "--no-create-home", "--home-dir", "/nonexistent"];
  return [...flags, "--shell", "/usr/sbin/nologin", "--", name];
}

/** Makes a system user without a home and a login. Rejects with the reason when it can't. */
export function createUser(name: string, env: NodeJS.ProcessEnv): Promise<void> {
  return asRoot("useradd", userFlags(name), env);
}
