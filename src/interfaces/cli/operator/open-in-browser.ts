import { spawn } from "node:child_process";

/** An opener that takes longer works, in ms: some end with the browser. */
const failsWithinMs = 2_000;

/** The command that opens files; null without a screen to open them on. */
export function openerOf(env: NodeJS.ProcessEnv, platform: NodeJS.Platform): string | null {
  if (platform === "darwin") return isSet(env.SSH_CONNECTION) ? null : "open";
  return isSet(env.DISPLAY) || isSet(env.WAYLAND_DISPLAY) ? "xdg-open" : null;
}

/** Opens a file with the system's opener; false when it is not installed or fails. */
export async function openInBrowser(
  path: string,
  opener: string,
  env: NodeJS.ProcessEnv,
): Promise<boolean> {
  const child = spawn(opener, [path], { env, detached: true, stdio: "ignore" });
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const timer = setTimeout(() => resolve(true), failsWithinMs);
  child.once("error", () => resolve(false));
  child.once("exit", (code) => resolve(code === 0));
  const isOpened = await promise;
  clearTimeout(timer);
  child.unref();
  return isOpened;
}

function isSet(value: string | undefined): boolean {
  return value !== undefined && value !== "";
}
