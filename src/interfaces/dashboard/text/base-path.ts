import { options } from "preact";

const ofDocument =
  typeof document === "undefined" ? "" : (document.documentElement.dataset.base ?? "");
let read = (): string => ofDocument;

/** The path below which a reverse proxy serves this gateway, such as "/al"; empty at the root of a host. */
export const currentBasePath = (): string => read();

/** On the server, each request has the base path of the gateway that it came to. */
export function readBasePath(ofRequest: () => string): void {
  read = ofRequest;
}

/** A path of this gateway for browsers. Paths with the base, and other addresses, are unchanged. */
export function publicPath(path: string): string {
  const isOfHost = path.startsWith("/") && !path.startsWith("//");
  return isOfHost && localPath(path) === path ? `${currentBasePath()}${path}` : path;
}

/** A requested path without the base that the proxy may have left in it. */
export function localPath(path: string): string {
  const basePath = currentBasePath();
  const isBelow = basePath !== "" && path.startsWith(basePath);
  const rest = isBelow ? path.slice(basePath.length) : path;
  if (!isBelow || rest.startsWith("/")) return rest;
  return rest === "" || rest.startsWith("?") ? `/${rest}` : path;
}

/** Every link and form of a page, on the server and in the browser, gets the base path. */
options.vnode = ({ type, props }) => {
  if (typeof type !== "string" || currentBasePath() === "") return;
  const attributes = props as { href?: unknown; action?: unknown };
  if (typeof attributes.href === "string") attributes.href = publicPath(attributes.href);
  if (typeof attributes.action === "string") attributes.action = publicPath(attributes.action);
};
