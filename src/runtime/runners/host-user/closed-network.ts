import { accessSync, constants, realpathSync } from "node:fs";
import { delimiter, join } from "node:path";

/**
 * In new network and mount namespaces: brings up the loopback interface, and hides the sockets of the machine's
 * services. Those in /run resolve names (systemd-resolved, nscd, D-Bus) or start programs outside (D-Bus, systemd,
 * container engines), from any network namespace. The whole folder is hidden, as a restarted service creates its own
 * folder again.
 */
const close = `set -e
"$1" link set lo up
if [ -d /run ]; then "$2" -t tmpfs -o size=64k,mode=0755 al-run /run; fi
shift 2
exec "$@"`;

export interface NetworkTools {
  readonly ip: string;
  readonly mount: string;
  readonly unshare: string;
}

const usualDirs = ["/usr/sbin", "/sbin", "/usr/bin", "/bin"];
const packages: Readonly<Record<keyof NetworkTools, string>> = {
  ip: "iproute2",
  mount: "mount",
  unshare: "util-linux",
};

/** Absolute paths of the tools that close a network; a text is the name of a missing tool. */
export function findNetworkTools({ PATH = "" }: NodeJS.ProcessEnv): NetworkTools | string {
  const dirs = [...usualDirs, ...PATH.split(delimiter).filter((dir) => dir.startsWith("/"))];
  const ip = findTool("ip", dirs);
  const mount = findTool("mount", dirs);
  const unshare = findTool("unshare", dirs);
  if (ip !== null && mount !== null && unshare !== null) return { ip, mount, unshare };
  const missing = ip === null ? "ip" : mount === null ? "mount" : "unshare";
  return `the program ${missing} is missing: install ${packages[missing]}`;
}

function findTool(name: string, dirs: readonly string[]): string | null {
  for (const dir of dirs) {
    try {
      const path = realDir(dir);
      accessSync(join(path, name), constants.X_OK);
      return join(path, name);
    } catch {
      // The next folder may have it.
    }
  }
  return null;
}

/** The arguments of a shell that closes its network, then becomes `command`. */
export function closingShell(
  { ip, mount }: NetworkTools,
  command: readonly string[],
): readonly string[] {
  return ["/bin/sh", "-c", close, "al-run", ip, mount, ...command];
}

/** A PATH to the same programs while /run is hidden: NixOS and fnm have theirs there, behind links. */
export function pathWithoutRun(path: string): string {
  return path.split(delimiter).map(realDir).join(delimiter);
}

function realDir(dir: string): string {
  if (!dir.startsWith("/run/")) return dir;
  try {
    return realpathSync(dir);
  } catch {
    return dir;
  }
}

/** The hint for a machine that can't close the network. */
const remedy =
  'use a container ([runtime] type = "container"), or allow it in the kernel (Ubuntu 24.04 and later: ' +
  "sudo sysctl -w kernel.apparmor_restrict_unprivileged_userns=0; iproute2 has to be installed), " +
  'or open the network with network = "bridge" in [local]';

/** The error of a run that must be closed and can't be. */
export function cannotClose(why: string): string {
  return `its network has to be closed, but this OS user can't have its own network (${why}): ${remedy}`;
}

/** The warning for an open run that need not be closed. */
export function openWarning(why: string): string {
  return `the network of this run is open: this OS user can't have its own network (${why}). It reaches every host that this machine reaches. To close it, ${remedy}`;
}
