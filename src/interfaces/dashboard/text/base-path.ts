import { options } from "preact";

/** The path below which a reverse proxy serves this gateway, such as "/al"; empty at the root of a host. */
let basePath = typeof document === "undefined" ? "" : (document.documentElement.dataset.base ?? "");

/** Sets the base path of pages rendered by this process. */
export function setBasePath(path: string): void {
  basePath = path;
}

export function currentBasePath(): string {
  return basePath;
}

/** A path of this gateway for browsers. Paths with the base, and other addresses, are unchanged. */
export function publicPath(path: string): string {
  const isOfHost = path.startsWith("/") && !path.startsWith("//");
  return isOfHost && localPath(path) === path ? `${basePath}${path}` : path;
}

/** A requested path without the base that the proxy may have left in it. */
export function localPath(path: string): string {
  const isBelow = basePath !== "" && path.startsWith(basePath);
  const rest = isBelow ? path.slice(basePath.length) : path;
  if (!isBelow || rest.startsWith("/")) return rest;
  return rest === "" || rest.startsWith("?") ? `/${rest}` : path;
}

/** Every link and form of a page, on the server and in the browser, gets the base path. */
options.vnode = ({ type, props }) => {
  if (typeof type !== "string" || basePath === "") return;
  const attributes = props as { href?: unknown; action?: unknown };
  if (typeof attributes.href === "string") attributes.href = publicPath(attributes.href);
  if (typeof attributes.action === "string") attributes.action = publicPath(attributes.action);
};
