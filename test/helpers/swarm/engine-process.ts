import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { connectEngine } from "../../../src/runtime/runners/container/engine.ts";
import { answers } from "../docker.ts";
import { asMachine, startProcess, type OwnProcess } from "../own-process.ts";
import type { SharedLayers } from "./images.ts";

export interface EngineProcessOptions {
  /** Has its data, socket and log. */
  readonly dir: string;
  readonly networkNamespace: string;
  /** The machine's name. */
  readonly hostname: string;
  /** Mounted over the empty folders of the same names in its data's `overlay2`. */
  readonly layers: SharedLayers;
  readonly args: readonly string[];
}

const startTimeoutMs = 60_000;

/**
 * A pull of a name that no registry has must fail at once: nothing answers there. /run is empty after a power cut, and
 * so is that of the next start. An engine whose data folder is no mount of its own binds it to itself, which
 * would hide the mounts in it. The first process of a process namespace takes all others along when it is killed.
 */
const script = `
set -e
mount --bind "$0/resolv.conf" "$(readlink -f /etc/resolv.conf)"
mount -t tmpfs -o mode=755 tmpfs /run
ip link set lo up
dir="$0"
echo "$1" >/proc/sys/kernel/hostname
own="$dir/data/overlay2"
mkdir -p "$own"
for folder in "$dir/data" "$own"; do
  mount --bind "$folder" "$folder"
  mount --make-private "$folder"
done
for layer in $2; do
  mount --bind "$layer" "$own/$(basename "$layer")"
done
shift 2
exec docker-init -- dockerd --data-root "$dir/data" -H "unix://$dir/docker.sock" "$@"
`;

/**
 * Starts a dockerd of its own, with what a machine of its own would have: network, processes, /run, name server.
 * Resolves when it answers. It ends with this process at the latest; to kill it ends it and all that runs on it at once,
 * as a power cut does.
 */
export async function startEngineProcess(options: EngineProcessOptions): Promise<OwnProcess> {
  const { dir, networkNamespace, hostname, layers, args } = options;
  mkdirSync(dir, { recursive: true });
  writeFileSync(join(dir, "resolv.conf"), "nameserver 127.0.0.1\noptions timeout:1 attempts:1\n");
  const given = [dir, hostname, [...layers.values()].join(" "), ...args];
  const command = asMachine(networkNamespace, "sh", "-c", script, ...given);
  const daemon = startProcess("dockerd", dir, command);
  const engine = connectEngine({ env: { DOCKER_HOST: `unix://${join(dir, "docker.sock")}` } });
  await Promise.race([answers(engine, startTimeoutMs), daemon.ended]);
  return daemon;
}
