import { join } from "node:path";
import type { LoginLink } from "../../../foundation/contracts/operator-api.ts";
import { replacePrivately } from "../../../foundation/store/state-dir.ts";
import type { Context } from "../context.ts";
import { connect, explained } from "./connect.ts";
import { spawn } from "node:child_process";

/** An opener that runs longer than this works, in ms: some end with the browser. */
const failsWithinMs = 2_000;

/** The command that opens files; null without a screen to open them on. */
export function openerOf(env: NodeJS.ProcessEnv, platform: NodeJS.Platform): string | null {
  if (platform === "darwin") return isSet(env.SSH_CONNECTION) ? null : "open";
  return isSet(env.DISPLAY) || isSet(env.WAYLAND_DISPLAY) ? "xdg-open" : null;
}

/** Opens a file with the system's opener; false when it is not installed or fails. */
async function openInBrowser(
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

/** Opens the dashboard by a login link of the running scheduler; prints the link where no browser can be opened. */
export async function openDashboard(
  context: Context,
  { print }: { readonly print?: true },
): Promise<void> {
  const { out } = context;
  const link = await askForLink(context);
  if (out.json) return out.document(link);
  const { origin } = new URL(link.url);
  if (!print && (await openLink(context, link.url))) return out.data(`opened ${origin}/dashboard`);
  out.data(link.url);
  out.note("the link logs in once, within 10 minutes");
}

/** Opens a link that only the person may know; false where no browser can be opened. */
export async function openLink({ env, projectDir }: Context, url: string): Promise<boolean> {
  const opener = openerOf(env, process.platform);
  if (opener === null) return false;
  const page = join(projectDir, ".al", "open.html");
  replacePrivately(page, redirectPage(url));
  return openInBrowser(page, opener, env);
}

async function askForLink(context: Context): Promise<LoginLink> {
  const client = await connect(context);
  const hint = "Stop it with `al stop`, and start it with `al start --web-ui`.";
  const asked = client.post("/control/login-link");
  return (await explained(asked, ["no_dashboard"], { hint })) as LoginLink;
}

/** Every user of the machine can read the arguments of a program: the browser gets the link from a private file. */
function redirectPage(url: string): string {
  const { href } = new URL(url);
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="referrer" content="no-referrer">
<meta http-equiv="refresh" content="0; url=${href}">
<title>Almanac</title>
<p><a href="${href}">Open it</a></p>
</html>
`;
}
