import { randomBytes, timingSafeEqual } from "node:crypto";
import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { Problem } from "../../../foundation/errors.ts";

interface ManifestPage {
  /** Address that the manifest is sent to. */
  readonly action: string;
  readonly manifest: (redirectUrl: string) => object;
  /** Receives the page's address, which only the person may know. */
  readonly onOpen: (url: string) => void;
}

/** GitHub's codes are valid as long, in ms. */
const longestMs = 60 * 60_000;

/**
 * Serves a page on 127.0.0.1 from which a person sends a manifest to GitHub; resolves with the code with which GitHub
 * redirects back. The first code with the right state ends the page. Rejects with a Problem after an hour.
 */
export async function codeOfManifest({ action, manifest, onOpen }: ManifestPage): Promise<string> {
  const [path, state] = [randomText(), randomText()];
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? "/", origin);
    if (request.headers.host !== new URL(origin).host) return answer(response, 421, "");
    if (pathname === `/${path}`)
      return answer(response, 200, form, `https: ${new URL(action).origin}`);
    if (pathname !== `/${path}/made`) return answer(response, 404, "");
    const code = searchParams.get("code") ?? "";
    if (code === "" || !isSame(searchParams.get("state") ?? "", state))
      return answer(response, 400, text("This is not the answer to this page's request."));
    response.once("finish", () => resolve(code));
    answer(response, 200, text("GitHub has made the app. Go back to the terminal."));
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const to = `${action}?state=${state}`;
  const form = formPage(to, JSON.stringify(manifest(`${origin}/${path}/made`)));
  const late = new Problem("timeout", "no app was made within an hour", "Repeat the command.");
  const timer = setTimeout(() => reject(late), longestMs);
  onOpen(`${origin}/${path}`);
  try {
    return await promise;
  } finally {
    clearTimeout(timer);
    server.close().closeAllConnections();
  }
}

function randomText(): string {
  return randomBytes(32).toString("base64url");
}

function isSame(given: string, state: string): boolean {
  return given.length === state.length && timingSafeEqual(Buffer.from(given), Buffer.from(state));
}

function answer(response: ServerResponse, status: number, html: string, sendsTo = "'none'"): void {
  response.writeHead(status, {
    "content-type": "text/html; charset=utf-8",
    "content-security-policy": `default-src 'none'; form-action ${sendsTo}; frame-ancestors 'none'`,
    "referrer-policy": "no-referrer",
    "cache-control": "no-store",
    connection: "close",
  });
  response.end(html);
}

function text(words: string): string {
  return `<!doctype html><html lang="en"><meta charset="utf-8"><title>Almanac</title><p>${words}</p></html>\n`;
}

function formPage(action: string, manifest: string): string {
  const button = "<button>Make the app on GitHub</button>";
  const field = `<input type="hidden" name="manifest" value="${escaped(manifest)}">`;
  return text(
    `GitHub asks for the app's name. The app gets only the permissions and events that the agents need.<form method="post" action="${escaped(action)}">${field}${button}</form>`,
  );
}

function escaped(value: string): string {
  return value.replaceAll("&", "&amp;").replaceAll('"', "&quot;").replaceAll("<", "&lt;");
}
